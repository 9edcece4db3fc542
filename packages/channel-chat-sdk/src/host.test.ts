import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { CurrentEvent, EventScope } from './event-scope.ts';
import { createHost } from './host.ts';
import type { Intake } from './intake.ts';
import type { ChatState } from './state.ts';

/** A host that passes every message to `message`. */
function hostWith(message: Intake['message'], current = new CurrentEvent()) {
  return createHost({
    state: {} as ChatState,
    intake: { message } as Intake,
    log: silentLogger,
    current,
    userName: () => 'bot',
    stopping: new AbortController().signal,
    wait: async () => {},
    laneOf: (threadId) => threadId,
  });
}

const adapter = {} as never;
const message = {} as never;

describe('the host of an adapter', () => {
  it('[F15] implements exactly the interface of the installed Chat SDK', () => {
    const folder = dirname(fileURLToPath(import.meta.resolve('chat')));
    const declarations = readdirSync(folder)
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    const [body = ''] = declarations.flatMap(
      (text) => /\binterface ChatInstance \{([\s\S]*?)\n\}/.exec(text)?.[1] ?? [],
    );
    const plain = body.replaceAll(/\/\*[\s\S]*?\*\//g, '');
    const members = [...plain.matchAll(/^ {4}(?:readonly )?(\w+)\??[(:]/gm)].map(
      ([, name]) => name,
    );
    expect(members.length).toBeGreaterThan(20);
    expect(Object.keys(hostWith(async () => {})).sort()).toEqual(members.sort());
  });

  it('[D01] [D02] handles the messages of a thread in order, and answers the event after them', async () => {
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    const current = new CurrentEvent();
    const host = hostWith(async (threadId) => {
      order.push(`begins ${threadId}`);
      if (order.length === 1) await first.promise;
      order.push(`ends ${threadId}`);
    }, current);
    const scope = new EventScope();
    const settled = current.run(scope, async () => {
      void host.processMessage(adapter, 'a', message);
      void host.processMessage(adapter, 'a', message);
      void host.processMessage(adapter, 'b', message);
      await scope.settle();
      order.push('answered');
    });
    await new Promise(setImmediate);
    first.resolve();
    await settled;
    expect(order).toEqual([
      ...['begins a', 'begins b', 'ends b'],
      ...['ends a', 'begins a', 'ends a', 'answered'],
    ]);
  });

  it("[D01] fails an event if its message could not be stored, and passes each task to the adapter's `waitUntil`", async () => {
    const current = new CurrentEvent();
    const host = hostWith(async () => {
      throw new Error('disk is full');
    }, current);
    const scope = new EventScope();
    const tasks: Promise<unknown>[] = [];
    await current.run(scope, async () => {
      const waitUntil = (task: Promise<unknown>) => void tasks.push(task);
      await host.processMessage(adapter, 'a', message, { waitUntil });
    });
    await expect(scope.settle()).rejects.toThrow('disk is full');
    expect(await Promise.all(tasks)).toHaveLength(1);
  });

  it('[D01] retries a message that does not belong to an event', async () => {
    let failures = 3;
    const host = hostWith(async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('disk is full');
    });
    await host.processMessage(adapter, 'a', message);
    expect(failures).toBe(-1);
  });
});
