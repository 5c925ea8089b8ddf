# frozen_string_literal: true

# ruby18.rb FILE...: refuses what Ruby 1.8 cannot parse: the probe is for every Ruby from 1.8.7 on, and CI has no such Ruby.
# Named are the constructs that came later; what both can parse and only one knows at run time is not seen here.

require 'ripper'

NEWER = { :on_tlambda => '->', :on_label => 'key: value', :on_symbols_beg => '%i', :on_qsymbols_beg => '%i',
          :on_rational => '1r', :on_imaginary => '1i', :on_label_end => '"key": value' }.freeze

ARGV.each do |path|
  previous = nil
  Ripper.lex(File.read(path)).each do |(line, _), type, text|
    newer = NEWER[type]
    newer ||= text if text == '&.' || text.start_with?('<<~')
    newer ||= 'a line that begins with .' if type == :on_period && previous == :on_ignored_nl
    newer ||= 'what is not ASCII' unless text.ascii_only?
    abort "#{path}:#{line}: Ruby 1.8 cannot parse #{newer}" if newer
    previous = type unless type == :on_sp
  end
end
