import type { NewApproval } from '../approvals.ts';
import type { Store } from '../open-store.ts';
import type { SummaryTask } from '../summaries.ts';
import { answer, claim, hold, message, part } from './messages.ts';

/** For tests: does everything a turn and its surroundings do besides the way of a message, in chats of its own. */
export async function useWork(store: Store): Promise<void> {
  await useSubAgents(store);
  await useApprovals(store);
  await useSummaries(store);
  await useLists(store);
}

async function useSubAgents(store: Store): Promise<void> {
  await store.inbox.accept(message('s1', 'c5'));
  const lease = await hold(store, 'web:c5');
  await claim(store, lease, 't5');
  const order = { turnId: 't5', title: 't', task: 't', reader: 'owner', text: 'w' } as const;
  const bounds = { depth: 2, atOnce: 3 };
  for (const id of ['a', 'b']) {
    await store.subAgents.start({ ...order, id, callId: id }, bounds, 0);
    await store.subAgents.of(`sub:${id}`);
  }
  const own = await hold(store, 'sub:a');
  await claim(store, own, 't6');
  const commit = { ...answer('t6', []), parts: [] };
  const over = { commit, steps: 1, state: 'done', result: 'r', text: 'w' } as const;
  await store.subAgents.commit(own, over, 0);
  await store.inbox.command(message('s2', 'c5'), { kind: 'stop' }, () => []);
}

async function useApprovals(store: Store): Promise<void> {
  await store.inbox.accept(message('a1', 'c6'));
  const lease = await hold(store, 'web:c6');
  await claim(store, lease, 't7');
  const asked: NewApproval = {
    code: 'CODE7',
    turnId: 't7',
    callKey: 'k',
    tool: 'write',
    shown: '{}',
    askedBy: 'web:u1',
    place: 'web c6',
    askedIn: 'web:c6',
    approvers: [],
    expiresAt: 5,
  };
  await store.approvals.allow(lease, { ...asked, code: 'CODE8', callKey: 'j' }, 0);
  await store.approvals.ask(lease, asked, [part('May I?', 'c6')], 0);
  await store.approvals.of('t7', 'k');
  const by = { verdict: 'denied', by: 'web:u1' } as const;
  await store.inbox.command(message('a2', 'c6'), { kind: 'decide', code: null, ...by }, () => []);
  await store.inbox.command(message('a3', 'c6'), { kind: 'decide', code: 'X', ...by }, () => []);
  await store.approvals.expire(9);
  await store.approvals.recent(5);
  const mode = { kind: 'mode', to: 'plan' } as const;
  await store.inbox.command(message('a4', 'c6'), mode, () => []);
  const run = { kind: 'run-plan', plan: null, text: 'go' } as const;
  await store.inbox.command(message('a5', 'c6'), run, () => []);
}

async function useSummaries(store: Store): Promise<void> {
  const place = { conversationId: 'web:c6', session: 0, reader: 'owner' };
  const history: SummaryTask = { ...place, kind: 'history', mark: '0' };
  const by = { by: 'one', now: 0, until: 9, impatient: true };
  await store.summaries.claim(history, by);
  await store.summaries.postpone(history, 'one', 0);
  await store.summaries.claim(history, by);
  await store.summaries.finish(history, 'one', { content: {}, reaches: 1 });
  await store.summaries.latest(place);
  await store.summaries.ofDay(place, '2026-11-21');
  await store.transcript.sinceSummary(place, 5);
  await store.transcript.newestAfter(place, 1, 5);
  await store.transcript.oldestAfter(place, 1, 5);
  await store.transcript.saidBetween(place, 0, 1, 5);
  await store.transcript.messagesBehind(place, 1, 5);
}

async function useLists(store: Store): Promise<void> {
  const place = { conversationId: 'web:c6', session: 0 };
  await store.pins.fix(place, 'k', 'v', 0);
  await store.todos.replace(place, [{ text: 't', state: 'open' }], 0);
  await store.todos.of(place);
  const account = { day: '2026-11-21', personId: 'web:u1', groupId: 'web:default:g' };
  await store.spend.add(account, { inputTokens: 1, outputTokens: 1, costUsd: null });
  await store.spend.of(account);
  await store.spend.ofPerson(account);
  await store.spend.day(account.day);
  const memory = { file: 'f', id: 'm1', type: 'fact', scope: 'user', person: 'web:u1' };
  const from = { words: 'own', savedOn: null, channel: 'web', chatId: 'c6', messageId: 'a1' };
  await store.memories.add({ ...memory, ...from });
  await store.memories.used(['m1']);
  await store.memories.uses();
  await store.memories.remove([{ file: 'f', id: 'm2' }]);
}
