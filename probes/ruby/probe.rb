# frozen_string_literal: true

# A probe of hotset for Ruby: one job, one line of JSON. docs/probes.md has the contract.

require 'json'
require 'rbconfig'

COMPILED = defined?(RubyVM::InstructionSequence) ? %w[load:iseq compile prepare:iseq compilefiles] : []
SUPPORTS = %w[
  read:binary read:text read:legacy parse write load:require load:known
  readall:binary readall:text readall:legacy exists
] + COMPILED

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

# Nanoseconds that the block takes.
def timed
  started = now
  yield
  now - started
end

def read_whole(path, how)
  case how
  when 'binary' then File.binread(path)
  when 'text' then File.read(path, encoding: 'UTF-8')
  when 'legacy' then File.read(path, encoding: 'Windows-31J:UTF-8')
  else raise ArgumentError, "how=#{how} is not one of binary, text, legacy"
  end
end

# `prefix000`, `prefix001` and so on.
def names_of(words)
  Array.new(Integer(words.fetch('count'))) { |number| format('%s%03d', words.fetch('prefix'), number) }
end

# The files that the names stand for.
def paths_of(words, suffix)
  names_of(words).map { |name| File.join(words.fetch('dir'), name + suffix) }
end

def job_about(_words)
  { executable: RbConfig.ruby, supports: SUPPORTS }
end

def job_read(words)
  path = words.fetch('file')
  how = words.fetch('how', 'binary')
  count = Integer(words.fetch('count'))
  times = Array.new(count) { timed { read_whole(path, how) } }
  { bytes: File.size(path) * count, calls: { open: count }, operations: count, repetitions_ns: times }
end

def job_parse(words)
  path = words.fetch('file')
  count = Integer(words.fetch('count'))
  document = read_whole(path, 'text')
  work = {
    'read' => -> { read_whole(path, 'text') },
    'read+parse' => -> { JSON.parse(read_whole(path, 'text')) },
    'parse' => -> { JSON.parse(document) }
  }.fetch(words.fetch('what'))
  times = Array.new(count) { timed(&work) }
  opened = words.fetch('what') == 'parse' ? 0 : count
  { bytes: document.bytesize * opened, calls: { open: opened }, operations: count, repetitions_ns: times }
end

# Ruby's own buffer has one size, 8192 bytes; it can only be left out.
def job_write(words)
  total, piece, buffer = words.fetch_values('total', 'piece', 'buffer').map { |word| Integer(word) }
  raise ArgumentError, "buffer=#{buffer}: Ruby's own is 8192, and 0 is none" unless [0, 8192].include?(buffer)

  pieces = Array.new(total / piece, 'x' * piece)
  pieces << ('x' * (total % piece)) if (total % piece).positive?
  took = timed do
    File.open(words.fetch('file'), 'wb') do |file|
      file.sync = buffer.zero?
      pieces.each { |data| file.write(data) }
      file.fsync if words.fetch('sync', 'none') == 'fsync'
    end
  end
  calls = buffer.zero? ? { open: 1, write: pieces.size } : { open: 1 }
  { bytes: total, calls: calls, operations: pieces.size, repetitions_ns: [took] }
end

def loader(words)
  names = names_of(words)
  paths = paths_of(words, words.fetch('how') == 'iseq' ? '.yarb' : '.rb')
  case words.fetch('how')
  when 'require' then -> { names.each { |name| require name } }
  when 'known' then -> { paths.each { |path| require path } }
  when 'iseq' then -> { paths.each { |path| RubyVM::InstructionSequence.load_from_binary(File.binread(path)).eval } }
  else raise ArgumentError, "how=#{words['how']} is not one of require, known, iseq"
  end
end

def job_load(words)
  before = Array.new(Integer(words.fetch('directories', '0'))) do |number|
    File.join(words.fetch('before'), format('d%03d', number))
  end
  $LOAD_PATH.unshift(*before, words.fetch('dir'))
  took = timed(&loader(words))
  count = Integer(words.fetch('count'))
  { operations: count, repetitions_ns: [took] }
end

def job_readall(words)
  paths = paths_of(words, words.fetch('suffix'))
  how = words.fetch('how', 'binary')
  took = timed { paths.each { |path| read_whole(path, how) } }
  size = paths.sum { |path| File.size(path) }
  { bytes: size, calls: { open: paths.size }, operations: paths.size, repetitions_ns: [took] }
end

def job_exists(words)
  paths = paths_of(words, words.fetch('suffix'))
  times = Integer(words.fetch('times'))
  found = 0
  took = timed { times.times { paths.each { |path| found += 1 if File.exist?(path) } } }
  asked = paths.size * times
  { calls: { exists: asked }, notes: { found: found }, operations: asked, repetitions_ns: [took] }
end

def compile_all(paths)
  sources = paths.map { |path| [read_whole(path, 'text'), path] }
  took = timed { sources.each { |source, path| RubyVM::InstructionSequence.compile(source, path, path) } }
  size = sources.sum { |source, _| source.bytesize }
  { bytes: size, operations: paths.size, repetitions_ns: [took] }
end

def job_compile(words)
  compile_all(paths_of(words, '.rb'))
end

def job_compilefiles(words)
  compile_all(File.readlines(words.fetch('list'), chomp: true))
end

def job_prepare(words)
  raise ArgumentError, "how=#{words['how']} is not iseq" unless words['how'] == 'iseq'

  paths = paths_of(words, '.rb')
  took = timed do
    paths.each do |path|
      File.binwrite(path.sub(/rb\z/, 'yarb'), RubyVM::InstructionSequence.compile_file(path).to_binary)
    end
  end
  { operations: paths.size, repetitions_ns: [took] }
end

def main
  job, *rest = ARGV
  words = rest.to_h { |word| word.split('=', 2) }
  raise ArgumentError, "there is no job #{job.inspect}" unless private_methods.include?(:"job_#{job}")

  answer = { probe: 'ruby', version: RUBY_VERSION, job: job, bytes: 0, calls: {}, operations: 0, repetitions_ns: [] }
  puts JSON.generate(answer.merge(send(:"job_#{job}", words)))
end

begin
  main
rescue ArgumentError, KeyError, LoadError, SystemCallError, SyntaxError => e
  abort "#{e.class}: #{e.message}".tr("\n", ' ')
end
