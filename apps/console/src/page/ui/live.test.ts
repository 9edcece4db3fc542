import { describe, expect, it } from 'vitest';
import { createLiveChanges } from './live.ts';

describe('reloading after changes reported by the gateway', () => {
  function scene() {
    const timers: (() => void)[] = [];
    const page = { hidden: false, look: () => {} };
    const live = createLiveChanges({
      isHidden: () => page.hidden,
      onChange(listener) {
        page.look = listener;
      },
      later: (task) => void timers.push(task),
    });
    return { live, page, timers, next: () => timers.shift()?.() };
  }

  it('[U12] reloads visible data immediately, and only once more after a burst of changes', () => {
    const { live, timers, next } = scene();
    expect(live.count.value).toBeNull();
    for (let times = 0; times < 5; times += 1) live.note();
    expect(live.count.value).toBe(1);
    next();
    expect(live.count.value).toBe(2);
    next();
    expect([live.count.value, timers.length]).toEqual([2, 0]);
  });

  it('[U12] defers reloads while the page is hidden, and does not lose them', () => {
    const { live, page } = scene();
    page.hidden = true;
    live.note();
    expect(live.count.value).toBeNull();
    page.hidden = false;
    page.look();
    expect(live.count.value).toBe(1);
  });

  it('[U12] stops reloading for a person who does not receive events', () => {
    const { live, next } = scene();
    live.note();
    live.note();
    live.follow(false);
    next();
    expect(live.count.value).toBeNull();
  });

  it('[U12] reloads after each reconnection, since events may have been missed', () => {
    const { live } = scene();
    live.follow(true);
    expect(live.count.value).toBe(1);
  });
});
