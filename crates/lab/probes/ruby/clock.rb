# frozen_string_literal: true

# Nanoseconds of the monotonic clock, which never jumps, in every Ruby from 1.8.7 on.

if Process.respond_to?(:clock_gettime)
  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  end
elsif defined?(JRUBY_VERSION)
  require 'java'

  def now
    java.lang.System.nanoTime
  end
else
  # Before 2.1, Ruby's own clocks jump or count CPU time; so the kernel is asked.
  SYSTEM_CALLS = { 'x86_64' => 228, 'i386' => 265, 'i486' => 265, 'i586' => 265, 'i686' => 265, 'aarch64' => 113 }.freeze
  CLOCK_GETTIME = SYSTEM_CALLS[RUBY_PLATFORM[/\A(\w+)-linux/, 1]]
  CLOCK_MONOTONIC = 1
  unless CLOCK_GETTIME
    abort "there is no monotonic clock: Ruby has one from 2.1 on, this is #{RUBY_VERSION}, and the number of the " \
          "system call clock_gettime is not known for #{RUBY_PLATFORM}"
  end

  def now
    # A byte that is 0 would be refused, as the end of a string.
    filled = [-1, -1].pack('l!l!')
    syscall(CLOCK_GETTIME, CLOCK_MONOTONIC, filled)
    seconds, nanoseconds = filled.unpack('l!l!')
    seconds * 1_000_000_000 + nanoseconds
  end
end
