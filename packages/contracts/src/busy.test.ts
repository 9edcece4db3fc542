import { describe, expect, it } from 'vitest';
import { type BusyMode, BusyPolicy, busyIn } from './busy.ts';
import type { ChatType } from './inbound-message.ts';

describe('the busy policy', () => {
  it.each<[BusyPolicy, ChatType, BusyMode]>([
    ['collect', 'direct', 'collect'],
    ['steer', 'direct', 'steer'],
    ['followup', 'group', 'followup'],
    ['interrupt', 'thread', 'interrupt'],
    [{}, 'direct', 'collect'],
    [{ direct: 'steer' }, 'direct', 'steer'],
    [{ direct: 'steer' }, 'group', 'collect'],
    [{ direct: 'steer', group: 'interrupt' }, 'group', 'interrupt'],
    [{ group: 'followup' }, 'thread', 'collect'],
    [{ thread: 'followup' }, 'thread', 'followup'],
    [{ channel: 'interrupt' }, 'channel', 'interrupt'],
  ])('[D03] %j in a %s chat: %s', (policy, chatType, mode) => {
    expect(busyIn(policy, chatType)).toBe(mode);
  });

  it.each(['sometimes', { direct: 'sometimes' }, { chats: 'steer' }, 3])(
    '[D12] refuses %j',
    (value) => {
      expect(BusyPolicy.safeParse(value).success).toBe(false);
    },
  );
});
