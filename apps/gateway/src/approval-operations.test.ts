import type { ReplyRoute } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import type { DeadLetterWake, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OperationServices, performOperation } from './operations.ts';

const CHAT = { channel: 'web', account: 'default', chatId: 'c1' };
const ID = 'web:default:c1';
const CODE = 'ABC234';
const CALL = { caller: { name: 'Ann', person: 'Ann', role: 'owner' } } as const;
const ROUTE: ReplyRoute = {
  ...CHAT,
  target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' },
};

let store: Store;
let services: OperationServices;
let lines: readonly string[];
const woken: DeadLetterWake['kind'][] = [];
const allowed: string[] = [];
let isQueueAway = false;
beforeEach(async () => {
  woken.length = 0;
  allowed.length = 0;
  isQueueAway = false;
  store = await openMemoryStore({ clock: () => 0 });
  const { log, lines: logged } = createRecordingLogger();
  lines = logged;
  services = {
    ...{ store, log, clock: () => 2, defaultAgent: 'main', scrub: (text: string) => text },
    async wake({ kind }: DeadLetterWake) {
      if (isQueueAway) throw new Error('the queue is away');
      woken.push(kind);
    },
    approvals: async () => ({ rules: { allow: async (rule: string) => void allowed.push(rule) } }),
  } as unknown as OperationServices;
  await askForApproval();
});
afterEach(() => store.close());

/** Suspends a turn that asks for approval of a call. */
async function askForApproval(): Promise<void> {
  await store.inbox.accept({
    ...{ conversationId: ID, route: ROUTE, receivedAt: 0 },
    message: {
      ...{ channel: 'web', account: 'default', messageId: 'm1', text: 'write it', sentAt: 0 },
      chat: { id: 'c1', type: 'direct' },
      sender: { id: 'u', name: 'Ann', isBot: false },
      ...{ mentions: [], addressed: true, variables: {} },
    },
  });
  const work = { conversationId: ID, owner: 'w', leaseMs: 9 };
  const begun = await store.lanes.begin(work, 'collect', 't1', 0);
  if (begun.kind !== 'turn') throw new Error(`no turn: ${begun.kind}`);
  const call = { callKey: 't1.0.0', tool: 'write', shown: '{}', rule: 'write a.md' };
  const asked = { askedBy: 'web:u', place: 'web c1', askedIn: ID, approvers: [], expiresAt: 9 };
  const part = { route: ROUTE, body: { text: 'May I?', plain: 'May I?' } };
  await store.approvals.ask(
    begun.lease,
    { code: CODE, turnId: 't1', ...call, ...asked },
    [part],
    1,
  );
}

const decide = (decision: string) =>
  performOperation(services, 'approvals/decide', { code: CODE, decision }, CALL);

describe('an approval decided on the page', () => {
  it('[G05] wakes its turn and the chat with the request, and only the first decision counts', async () => {
    expect(await decide('once')).toEqual({ text: 'Allowed: write.' });
    expect(woken).toEqual(['conversation', 'chat']);
    expect(allowed).toEqual([]);
    await expect(decide('refuse')).rejects.toMatchObject({ code: 'not-decided' });
    expect(await store.approvals.recent(9)).toMatchObject([
      { state: 'approved', decidedBy: 'console:Ann' },
    ]);
  });

  it('[G05] takes full effect even while the queue is unavailable', async () => {
    isQueueAway = true;
    expect((await decide('always')).text).toContain(
      'From now on, write a.md does not need approval',
    );
    expect(allowed).toEqual(['write a.md']);
    expect(await store.approvals.recent(9)).toMatchObject([{ state: 'approved' }]);
    expect(lines.filter((line) => line.includes('the queue is away'))).toHaveLength(2);
  });
});
