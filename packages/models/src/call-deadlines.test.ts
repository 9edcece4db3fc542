import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startDeadlines } from './call-deadlines.ts';

const TIMEOUTS = { firstTokenMs: 1_000, chunkMs: 100, totalMs: 5_000 };
/**
 * Deadlines process data that has already arrived before they report silence, which takes one more
 * turn of the event loop.
 */
const READING_MS = 1;
const caller = () => new AbortController();

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the deadlines of a call', () => {
  it('[G01] abort the call if the first fragment does not arrive in time', () => {
    const deadlines = startDeadlines(TIMEOUTS, caller().signal);
    vi.advanceTimersByTime(999);
    expect(deadlines.ended()).toBeNull();
    vi.advanceTimersByTime(1 + READING_MS);
    expect(deadlines.ended()).toEqual({ kind: 'timeout', phase: 'first-token' });
    expect(deadlines.signal.aborted).toBe(true);
  });

  it('[G01] abort the call if the fragments stop, but not while they arrive', () => {
    const deadlines = startDeadlines(TIMEOUTS, caller().signal);
    for (let piece = 0; piece < 40; piece += 1) {
      deadlines.piece();
      vi.advanceTimersByTime(99);
      expect(deadlines.ended()).toBeNull();
    }
    vi.advanceTimersByTime(1 + READING_MS);
    expect(deadlines.ended()).toEqual({ kind: 'timeout', phase: 'stalled' });
  });

  it('[G21] are extended by any event before the first fragment, up to the total limit', () => {
    const deadlines = startDeadlines(TIMEOUTS, caller().signal);
    for (let passed = 0; passed < 4_500; passed += 900) {
      deadlines.alive();
      vi.advanceTimersByTime(900);
      expect(deadlines.ended()).toBeNull();
    }
    deadlines.alive();
    vi.advanceTimersByTime(500);
    expect(deadlines.ended()).toEqual({ kind: 'timeout', phase: 'total' });
  });

  it('[G01] abort the call if the entire answer takes too long', () => {
    const deadlines = startDeadlines({ ...TIMEOUTS, firstTokenMs: 9_000 }, caller().signal);
    vi.advanceTimersByTime(5_000);
    expect(deadlines.ended()).toEqual({ kind: 'timeout', phase: 'total' });
  });

  it('[G01] abort the call when the caller stops it, with the caller’s reason', () => {
    const stopping = caller();
    const deadlines = startDeadlines(TIMEOUTS, stopping.signal);
    stopping.abort();
    vi.advanceTimersByTime(9_000);
    expect(deadlines.ended()).toEqual({ kind: 'aborted' });
  });

  it('leave no timers behind once closed', () => {
    const stopping = caller();
    const deadlines = startDeadlines(TIMEOUTS, stopping.signal);
    deadlines.piece();
    deadlines.close();
    expect(vi.getTimerCount()).toBe(0);
    stopping.abort();
    expect(deadlines.ended()).toBeNull();
  });
});
