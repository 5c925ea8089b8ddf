# frozen_string_literal: true

# A probe of hotset for Ruby from 1.8.7 on: one job, one line of JSON. docs/probes.md has the contract.

require 'rbconfig'
require File.expand_path('../clock.rb', __FILE__)
require File.expand_path('../answer.rb', __FILE__)

begin
  require 'json'
rescue LoadError
  # It belongs to Ruby from 1.9 on.
end

# What Ruby converts files from; 1.8 knows no encodings.
ENCODINGS = defined?(Encoding) ? { 'text' => 'UTF-8', 'legacy' => 'Windows-31J:UTF-8' } : {}
# Of a file that is not timed.
WARM_UPS = 3

# The size of Ruby's own buffer for writing: Ruby 1.8 leaves it to the C library, and others than CRuby to themselves.
BUFFER = defined?(RUBY_ENGINE) && RUBY_ENGINE == 'ruby' ? 8192 : nil
COMPILES = defined?(RubyVM::InstructionSequence)
KEEPS_COMPILED = COMPILES && RubyVM::InstructionSequence.respond_to?(:load_from_binary)

SUPPORTS = %w[read:binary readall:binary write load:require load:known exists] +
           ENCODINGS.keys.map { |how| ["read:#{how}", "readall:#{how}"] }.flatten +
           (defined?(JSON) && defined?(Encoding) ? %w[parse] : []) +
           (COMPILES ? %w[compile compilefiles] : []) +
           (KEEPS_COMPILED ? %w[load:iseq prepare:iseq] : [])

def must_support(job)
  raise ArgumentError, "#{job}: Ruby #{RUBY_VERSION} can't; it can #{SUPPORTS.join(', ')}" unless SUPPORTS.include?(job)
end

# Nanoseconds that the block takes.
def timed
  started = now
  yield
  now - started
end

if File.respond_to?(:binread)
  def read_binary(path)
    File.binread(path)
  end
else
  def read_binary(path)
    File.open(path, 'rb') { |file| file.read }
  end
end

def read_whole(path, how)
  how == 'binary' ? read_binary(path) : File.read(path, :encoding => ENCODINGS.fetch(how))
end

# `prefix000`, `prefix001` and so on.
def numbered(prefix, count)
  Array.new(Integer(count)) { |number| format('%s%03d', prefix, number) }
end

# The names of the wanted files, without their endings.
def names_of(words)
  numbered(words.fetch('prefix'), words.fetch('count'))
end

# The files that the names stand for.
def paths_of(words, suffix)
  names_of(words).map { |name| File.join(words.fetch('dir'), name + suffix) }
end

# The empty directories before the one that has the files.
def before_of(words)
  numbered('d', words.fetch('directories', '0')).map { |name| File.join(words.fetch('before'), name) }
end

def job_about(_words)
  program = RbConfig::CONFIG['ruby_install_name'] + RbConfig::CONFIG['EXEEXT'].to_s
  { :executable => File.join(RbConfig::CONFIG['bindir'], program), :supports => SUPPORTS }
end

# The same work with another file, so that the first timed part has none of the program's own first times.
def warm_up(words)
  WARM_UPS.times { yield words.fetch('prime') } if words.key?('prime')
end

def job_read(words)
  path = words.fetch('file')
  how = words.fetch('how', 'binary')
  must_support("read:#{how}")
  count = Integer(words.fetch('count'))
  warm_up(words) { |other| read_whole(other, how) }
  times = Array.new(count) { timed { read_whole(path, how) } }
  { :bytes => File.size(path) * count, :calls => { :open => count }, :operations => count, :repetitions_ns => times }
end

def job_parse(words)
  must_support('parse')
  path = words.fetch('file')
  count = Integer(words.fetch('count'))
  opened = words.fetch('what') == 'parse' ? 0 : count
  document = opened.zero? ? read_whole(path, 'text') : nil
  work = {
    'read' => lambda { |file| read_whole(file, 'text') },
    'read+parse' => lambda { |file| JSON.parse(read_whole(file, 'text')) },
    'parse' => lambda { |_file| JSON.parse(document) }
  }.fetch(words.fetch('what'))
  warm_up(words) { |other| work.call(other) }
  times = Array.new(count) { timed { work.call(path) } }
  {
    :bytes => File.size(path) * opened, :calls => { :open => opened }, :operations => count,
    :repetitions_ns => times
  }
end

# Write calls of this process so far, as the kernel counted them; nil where it doesn't tell.
def write_calls
  counted = File.read('/proc/self/io')[/^syscw: (\d+)/, 1]
  counted && Integer(counted)
rescue SystemCallError
  nil
end

# Ruby's own buffer has one size; it can only be left out.
def job_write(words)
  total, piece, buffer = %w[total piece buffer].map { |key| Integer(words.fetch(key)) }
  sizes = [0, BUFFER].compact
  raise ArgumentError, "buffer=#{buffer} is not one of #{sizes.join(', ')}" unless sizes.include?(buffer)

  pieces = Array.new(total / piece, 'x' * piece)
  pieces << ('x' * (total % piece)) if total % piece > 0
  before = write_calls
  took = timed do
    File.open(words.fetch('file'), 'wb') do |file|
      file.sync = buffer.zero?
      pieces.each { |data| file.write(data) }
      file.fsync if words.fetch('sync', 'none') == 'fsync'
    end
  end
  answer = { :bytes => total, :calls => { :open => 1 }, :operations => pieces.size, :repetitions_ns => [took] }
  answer[:write_calls] = write_calls - before if before
  answer
end

def loader(words, how)
  paths = paths_of(words, how == 'iseq' ? '.yarb' : '.rb')
  case how
  when 'require'
    names = names_of(words)
    lambda { names.each { |name| require name } }
  when 'known' then lambda { paths.each { |path| require path } }
  when 'iseq'
    lambda { paths.each { |path| RubyVM::InstructionSequence.load_from_binary(read_binary(path)).eval } }
  end
end

def job_load(words)
  how = words.fetch('how')
  must_support("load:#{how}")
  $LOAD_PATH.unshift(*(before_of(words) + [words.fetch('dir')]))
  took = timed(&loader(words, how))
  { :operations => Integer(words.fetch('count')), :repetitions_ns => [took] }
end

def job_readall(words)
  paths = paths_of(words, words.fetch('suffix'))
  how = words.fetch('how', 'binary')
  must_support("readall:#{how}")
  took = timed { paths.each { |path| read_whole(path, how) } }
  size = paths.map { |path| File.size(path) }.inject(0) { |sum, bytes| sum + bytes }
  { :bytes => size, :calls => { :open => paths.size }, :operations => paths.size, :repetitions_ns => [took] }
end

# How many names are found, and how many paths are asked for: those of a name in order, until one exists.
def look_up(searches)
  found = asked = 0
  searches.each do |paths|
    paths.each do |path|
      asked += 1
      next unless File.exist?(path)

      found += 1
      break
    end
  end
  [found, asked]
end

def job_exists(words)
  places = before_of(words) + [words.fetch('dir')]
  searches = names_of(words).map { |name| places.map { |place| File.join(place, name + words.fetch('suffix')) } }
  times = Integer(words.fetch('times'))
  found = asked = 0
  took = timed do
    times.times do
      more = look_up(searches)
      found += more[0]
      asked += more[1]
    end
  end
  {
    :calls => { :exists => asked }, :notes => { :found => found }, :operations => searches.size * times,
    :repetitions_ns => [took]
  }
end

def compile_all(paths)
  sources = paths.map { |path| [read_whole(path, 'text'), path] }
  took = timed { sources.each { |source, path| RubyVM::InstructionSequence.compile(source, path) } }
  size = sources.map { |source, _| source.bytesize }.inject(0) { |sum, bytes| sum + bytes }
  { :bytes => size, :operations => paths.size, :repetitions_ns => [took] }
end

def job_compile(words)
  must_support('compile')
  compile_all(paths_of(words, '.rb'))
end

def job_compilefiles(words)
  must_support('compilefiles')
  compile_all(File.readlines(words.fetch('list')).map { |line| line.chomp })
end

def job_prepare(words)
  must_support("prepare:#{words.fetch('how')}")
  paths = paths_of(words, '.rb')
  took = timed do
    paths.each do |path|
      File.binwrite(path.sub(/rb\z/, 'yarb'), RubyVM::InstructionSequence.compile_file(path).to_binary)
    end
  end
  { :operations => paths.size, :repetitions_ns => [took] }
end

def main
  job = ARGV.first.to_s
  words = Hash[ARGV.drop(1).map { |word| word.split('=', 2) }]
  raise ArgumentError, "there is no job #{job.inspect}" unless respond_to?("job_#{job}", true)

  print_answer(job, send("job_#{job}", words))
end

begin
  main
rescue ArgumentError, IndexError, LoadError, SystemCallError, SyntaxError => e
  abort "#{e.class}: #{e.message}".tr("\n", ' ')
end
