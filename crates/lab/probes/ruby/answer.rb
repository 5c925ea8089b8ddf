# frozen_string_literal: true

# The line of JSON that a probe answers with: Ruby 1.8 has no library for it. Of these kinds of values alone.

def json(value)
  case value
  when Hash then '{' + value.map { |key, part| json(key.to_s) + ':' + json(part) }.join(',') + '}'
  when Array then '[' + value.map { |part| json(part) }.join(',') + ']'
  when Integer then value.to_s
  else '"' + escaped(value) + '"'
  end
end

# Bytes stay as they are, whatever encoding the locale takes a path for.
def escaped(text)
  text = text.dup.force_encoding('BINARY') if text.respond_to?(:force_encoding)
  text.gsub(/["\\\x00-\x1f]/n) { |char| format('\u%04x', char.unpack('C').first) }
end

def print_answer(job, found)
  is_cruby = !defined?(RUBY_ENGINE) || RUBY_ENGINE == 'ruby'
  version = is_cruby ? RUBY_VERSION : "#{RUBY_VERSION} (#{RUBY_ENGINE})"
  empty = { :bytes => 0, :calls => {}, :operations => 0, :repetitions_ns => [] }
  puts json(empty.merge(found).merge(:probe => 'ruby', :version => version, :job => job))
end
