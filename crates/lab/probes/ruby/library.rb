# frozen_string_literal: true

# Loads one library and says what came with it: the job `library` of docs/probes.md.
# Nothing else is required before, so that what the library needs is not there already.

require File.expand_path('../clock.rb', __FILE__)
require File.expand_path('../answer.rb', __FILE__)

def load_library(name)
  known = $LOADED_FEATURES.dup
  started = now
  require name unless name.empty?
  took = now - started
  [took, $LOADED_FEATURES - known]
end

# The file of a feature; none if Ruby itself contains it. Ruby 1.8 keeps a name below one of the directories that it searches.
def path_of(feature)
  paths = feature.start_with?('/') ? [feature] : $LOAD_PATH.map { |place| File.expand_path(feature, place) }
  paths.find { |path| File.file?(path) }
end

def main
  job, word = ARGV
  unless job == 'library' && word.to_s.start_with?('name=')
    raise ArgumentError, 'the words must be: library name=NAME'
  end

  took, features = load_library(word.sub('name=', ''))
  files = features.map { |feature| path_of(feature) }.compact.map { |path| { :source => path, :read => path } }
  print_answer(job, :operations => 1, :repetitions_ns => [took], :modules => features.size, :files => files)
end

begin
  main
rescue ArgumentError, LoadError, SystemCallError, SyntaxError => e
  abort "#{e.class}: #{e.message}".tr("\n", ' ')
end
