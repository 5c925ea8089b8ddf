# frozen_string_literal: true

# Loads one library and says what came with it: the job `library` of docs/probes.md.
# Nothing else is required before, so that what the library needs is not there already.

def load_library(name)
  known = $LOADED_FEATURES.dup
  started = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  require name unless name.empty?
  took = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - started
  [took, $LOADED_FEATURES - known]
end

def main
  job, word = ARGV
  unless job == 'library' && word.to_s.start_with?('name=')
    raise ArgumentError, 'the words must be: library name=NAME'
  end

  took, features = load_library(word.delete_prefix('name='))
  files = features.select { |path| File.file?(path) }.map { |path| { source: path, read: path } }
  require 'json'
  puts JSON.generate(
    probe: 'ruby', version: RUBY_VERSION, job: job, bytes: 0, calls: {}, operations: 1,
    repetitions_ns: [took], modules: features.size, files: files
  )
end

begin
  main
rescue ArgumentError, LoadError, SystemCallError, SyntaxError => e
  abort "#{e.class}: #{e.message}".tr("\n", ' ')
end
