import type { LiveEvent } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { createLocalBus } from './local-bus.ts';

const stop: LiveEvent = { type: 'stop-turn', conversationId: 'c' };

describe('the live bus within one process', () => {
  it('notifies every listener in subscription order, until it unsubscribes', () => {
    const bus = createLocalBus(createRecordingLogger().log);
    const heard: string[] = [];
    const leave = bus.subscribe(() => heard.push('first'));
    bus.subscribe(() => heard.push('second'));
    bus.publish(stop);
    leave();
    bus.publish(stop);
    expect(heard).toEqual(['first', 'second', 'second']);
  });

  it('continues after a listener throws', () => {
    const { log, lines } = createRecordingLogger();
    const bus = createLocalBus(log);
    const heard: LiveEvent[] = [];
    bus.subscribe(() => {
      throw new Error('a defect');
    });
    bus.subscribe((event) => heard.push(event));
    bus.publish(stop);
    expect(heard).toEqual([stop]);
    expect(lines).toEqual([
      'a live event listener failed {"event":"stop-turn","reason":"a defect"}',
    ]);
  });
});
