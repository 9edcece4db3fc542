import { createRecordingLogger } from '@parley/core/testing';
import type { AdmittedMessage, LinkAction, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BootDeps, runBoot } from './boot.ts';

const OWNER = 'telegram:42';

let store: Store;
let woken: string[];
let lines: readonly string[];
let deps: BootDeps;
beforeEach(async () => {
  store = await openMemoryStore({ clock: () => 0 });
  const { log, lines: logged } = createRecordingLogger();
  lines = logged;
  woken = [];
  deps = {
    store,
    lanes: { wake: async (key) => void woken.push(key) },
    owners: [OWNER],
    saysSomething: async () => true,
    serves: () => true,
    startId: 'boot_1',
    clock: () => 9_000,
    log,
  };
});
afterEach(() => store.close());

const TARGET = { dialect: 'plain', maxLength: 100, unit: 'utf16' } as const;

function written(channel: string, sender: string, change: object = {}): AdmittedMessage {
  const place = { channel, account: 'default' };
  return {
    conversationId: `${channel}:default:${sender}`,
    route: { ...place, chatId: sender, chatType: 'direct', target: TARGET },
    receivedAt: 1,
    fromOwner: true,
    message: {
      ...place,
      messageId: '1',
      chat: { id: sender, type: 'direct' },
      sender: { id: sender, name: 'Ann', isBot: false },
      text: 'my secret plan',
      mentions: [],
      addressed: true,
      sentAt: 1,
      variables: {},
    },
    ...change,
  };
}

const waiting = async (channel: string, chatId: string) =>
  (await store.inbox.recent({ channel, account: 'default', chatId }, 9)).filter(
    ({ message }) => message.trigger === 'boot',
  );

describe('BOOT.md at startup', () => {
  it('[W08] sends a message to the direct chat that an owner used last', async () => {
    const last = written('telegram', '42');
    await store.inbox.accept(last);
    expect(await runBoot(deps)).toBe('stored');
    const [row, ...more] = await waiting('telegram', '42');
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      conversationId: 'telegram:default:42',
      route: last.route,
      receivedAt: 9_000,
      fromOwner: true,
      message: {
        messageId: 'boot_1',
        chat: { id: '42', type: 'direct' },
        sender: { id: '42' },
        text: expect.stringMatching(/BOOT\.md.*NO_REPLY/),
        trigger: 'boot',
      },
    });
    expect(row?.message.text).not.toContain('secret');
    expect(woken).toEqual(['telegram:default:42']);
  });

  it('[W08] runs once at each start', async () => {
    await store.inbox.accept(written('telegram', '42'));
    await runBoot(deps);
    await runBoot(deps);
    expect(await waiting('telegram', '42')).toHaveLength(1);
    await runBoot({ ...deps, startId: 'boot_2' });
    expect(await waiting('telegram', '42')).toHaveLength(2);
  });

  it('[W08] does not run if BOOT.md is empty', async () => {
    await store.inbox.accept(written('telegram', '42'));
    expect(await runBoot({ ...deps, saysSomething: async () => false })).toBe('nothing-to-do');
    expect(await waiting('telegram', '42')).toEqual([]);
    expect(woken).toEqual([]);
  });

  it('[W08] does not run until an owner has written, and the log states the reason', async () => {
    await store.inbox.accept(written('telegram', '7', { fromOwner: false }));
    expect(await runBoot(deps)).toBe('no-owner');
    expect(lines.join()).toContain('no owner has written');
  });

  it('[W02] is not sent to a former owner', async () => {
    await store.inbox.accept(written('telegram', '42'));
    await store.inbox.accept(written('telegram', '9'));
    await runBoot(deps);
    expect(await waiting('telegram', '9')).toEqual([]);
    expect(await waiting('telegram', '42')).toHaveLength(1);
    expect(await runBoot({ ...deps, owners: [] })).toBe('no-owner');
  });

  it('[W08] is sent to a chat that can receive answers', async () => {
    await store.inbox.accept(written('web', 'owner'));
    await store.inbox.accept(written('telegram', '42'));
    const owners = [OWNER, 'web:owner'];
    await runBoot({ ...deps, owners, serves: (channel) => channel === 'web' });
    expect(await waiting('telegram', '42')).toEqual([]);
    expect(await waiting('web', 'owner')).toHaveLength(1);
  });

  it('[F13] is added to the conversation that linked accounts share', async () => {
    const link = (id: string, personId: string, action: LinkAction) => ({
      admitted: written('telegram', '42', {
        message: { ...written('telegram', '42').message, messageId: id },
      }),
      link: { asker: { personId, isOwner: true }, action },
    });
    for (const { admitted, link: asked } of [
      link('l1', OWNER, { kind: 'make', code: 'LINK' }),
      link('l2', 'web:owner', { kind: 'type', code: 'LINK' }),
      link('l3', OWNER, { kind: 'type', code: 'LINK' }),
    ]) {
      await store.inbox.command(admitted, (command) => command.link(asked.asker, asked.action));
    }
    await runBoot(deps);
    expect(woken).toEqual([expect.stringMatching(/^linked:/)]);
  });

  it('does not delay startup', async () => {
    await store.inbox.accept(written('telegram', '42'));
    const failing = { ...deps, saysSomething: () => Promise.reject(new Error('disk')) };
    expect(await runBoot(failing)).toBe('failed');
    expect(lines.join()).toContain('disk');
  });
});
