import { AGENT_MUTATIONS } from './agent-mutations.ts';
import type { Mutation } from './mutations.ts';

const LANES = 'packages/store/src/lanes.ts';
const LANE_LEASES = 'packages/store/src/lane-leases.ts';
const TURNS = 'packages/store/src/turns.ts';
const CLAIM = 'packages/store/src/claim-turn.ts';
const INBOX = 'packages/store/src/inbox.ts';
const OUTBOX = 'packages/store/src/outbox.ts';
const DELIVER = 'packages/channels/src/delivery/deliver-chat.ts';
const AFTER_FAILURE = 'packages/channels/src/delivery/after-failure.ts';

/** Planted faults that were chosen by somebody who wrote neither the scenes nor the promises. */
export const CHOSEN_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a resumed turn is without its first message',
    breaks: 'D01',
    file: CLAIM,
    text: 'messages: rows.map(readInboxRow),\n    groupContext',
    by: 'messages: rows.slice(1).map(readInboxRow),\n    groupContext',
    scenes: ['embedded', 'shared'],
    faults: 'kill',
    within: 10,
  },
  {
    name: 'the sweep of lanes overlooks unfinished turns',
    breaks: 'D01',
    file: LANES,
    text: "select conversation_id, started_at as since from turn where state = 'running' and awaits is null",
    by: "select conversation_id, started_at as since from turn where state = 'nowhere' and awaits is null",
    scenes: ['embedded'],
    faults: 'kill',
    within: 20,
  },
  {
    name: 'accepted messages are not synced to disk',
    breaks: 'D01',
    file: INBOX,
    text: 'database.write((sql) => storeWithin(sql, admitted, { room, stored, onReplaced })),',
    by: "database.write((sql) => storeWithin(sql, admitted, { room, stored, onReplaced }), 'process'),",
    scenes: ['disk'],
    within: 10,
  },
  {
    name: 'the newest message of a lane is taken first',
    breaks: 'D02',
    file: CLAIM,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the product
    text: 'from inbox where ${IS_WAITING} order by seq limit :limit`,',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the product
    by: 'from inbox where ${IS_WAITING} order by seq desc limit :limit`,',
    scenes: ['embedded', 'shared'],
    within: 5,
  },
  {
    name: 'steps of a journal are not fenced',
    breaks: 'D02',
    file: TURNS,
    text: "if ((await lockLeased(sql, lease)) === null) return 'fenced';\n        if (!(await isUnfinished",
    by: 'if (!(await isUnfinished',
    scenes: ['tools-shared'],
    faults: 'pause',
    within: 15,
  },
  {
    name: 'a lease that was lost is given back all the same',
    breaks: 'D02',
    file: LANE_LEASES,
    text: 'const LEAVE = statement(`\n  update conversation set lease_owner = null, lease_until = null\n  where id = :conversationId and epoch = :epoch`);',
    by: 'const LEAVE = statement(`\n  update conversation set lease_owner = null, lease_until = null\n  where id = :conversationId and (epoch = :epoch or 1 = 1)`);',
    scenes: ['late-workers'],
    within: 10,
  },
  {
    name: 'the last message of a turn waits for the next turn, too',
    breaks: 'D03',
    file: CLAIM,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the product
    text: 'where ${IS_WAITING} and seq <= :last`);',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the product
    by: 'where ${IS_WAITING} and seq < :last`);',
    scenes: ['embedded', 'shared'],
    within: 5,
  },
  {
    name: 'messages that were collected get a turn each',
    breaks: 'D03',
    file: CLAIM,
    text: "if (busy === 'followup') break;",
    by: 'break;',
    scenes: ['embedded', 'shared'],
    within: 5,
  },
  {
    name: 'there is no pause to collect messages',
    breaks: 'D03',
    file: 'packages/queue/src/lane.ts',
    text: 'if (!isOneByOne(deps.busy, turn)) await waitForQuiet',
    by: 'if (isOneByOne(deps.busy, turn) && false) await waitForQuiet',
    scenes: ['shared'],
    within: 5,
  },
  {
    name: 'a part that is sent is marked as being sent',
    breaks: 'D04',
    file: OUTBOX,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the product
    text: "where id = :partId and state = 'pending' and ${HAS_LEASE}",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the product
    by: "where id = :partId and state <> 'unknown' and ${HAS_LEASE}",
    scenes: ['give-ups'],
    within: 10,
  },
  {
    name: 'a late gateway decides about a part that another one sends',
    breaks: 'D04',
    file: OUTBOX,
    text: "and state = 'sending' and (sender = :epoch or :epoch is null)`;",
    by: "and state = 'sending' and (sender = :epoch or :epoch is null or 1 = 1)`;",
    scenes: ['late-gateways'],
    within: 5,
  },
  {
    name: 'the newest part of a chat is sent first',
    breaks: 'D04',
    file: OUTBOX,
    text: 'order by seq limit :limit`).rows<\n  PartRow &\n    Omit<DuePart',
    by: 'order by seq desc limit :limit`).rows<\n  PartRow &\n    Omit<DuePart',
    scenes: ['embedded'],
    within: 5,
  },
  {
    name: 'sends are not paced',
    breaks: 'D05',
    file: DELIVER,
    text: 'return untilDue(due, clock()) || pacer.take(due.part.route, monotonic());',
    by: 'return untilDue(due, clock()) || Math.min(0, pacer.take(due.part.route, monotonic()));',
    scenes: ['limits'],
    within: 5,
  },
  {
    name: 'a refusal for a while pauses nothing',
    breaks: 'D05',
    file: AFTER_FAILURE,
    text: 'deps.pacer.pause(deps.monotonic(), failure.retryAfterMs, chat);',
    by: 'deps.pacer.pause(deps.monotonic(), 0, chat);',
    scenes: ['limits'],
    within: 10,
  },
  {
    name: 'what a platform refuses is sent again',
    breaks: 'D05',
    file: AFTER_FAILURE,
    text: "    case 'forbidden':\n      return { kind: 'give-up', state: 'failed' };",
    by: "    case 'forbidden':\n      return retryPart(facts, 'failed');",
    scenes: ['limits'],
    within: 10,
  },
  {
    name: 'the chat of a part that was refused reads nothing',
    breaks: 'D05',
    file: AFTER_FAILURE,
    text: 'part.noticeOf !== undefined || notice === null ? null : noticePart(notice, route);',
    by: 'part.noticeOf !== undefined || notice !== undefined ? null : noticePart(notice, route);',
    scenes: ['limits'],
    within: 10,
  },
  {
    name: 'leases are a hundred times as long',
    breaks: 'D13',
    file: 'packages/queue/src/keep-leases.ts',
    text: 'export const LEASE_MS = 8_000;',
    by: 'export const LEASE_MS = 800_000;',
    scenes: ['shared'],
    within: 10,
  },
  {
    name: 'the wait for another attempt is in the wrong unit',
    breaks: 'D13',
    file: OUTBOX,
    text: 'const notBefore = now + afterMs;',
    by: 'const notBefore = now + afterMs * 1_000;',
    scenes: ['embedded'],
    within: 10,
  },
  {
    name: 'a worker waits for a turn that does not end',
    breaks: 'D13',
    file: 'packages/queue/src/lane-worker.ts',
    text: 'return await Promise.race([done, whenDeaf(stop.signal)]);',
    by: 'return await done;',
    scenes: ['deaf'],
    within: 5,
  },
  {
    name: 'an effect is not journalled before it begins',
    breaks: 'D02',
    file: 'packages/agent/src/loop/call-tools.ts',
    text: "if (tool.effect === 'read' || tool.actsOnce === true) return true;",
    by: "if (tool.effect !== 'nothing') return true;",
    scenes: ['tools-embedded', 'tools-shared'],
    within: 10,
  },
  {
    name: 'a turn is resumed without its journal',
    breaks: 'D02',
    file: CLAIM,
    text: 'const steps = await readJournalSteps(sql, turn.id);',
    by: 'const steps = (await readJournalSteps(sql, turn.id)).slice(0, 0);',
    scenes: ['tools-embedded', 'tools-shared'],
    within: 10,
  },
  ...AGENT_MUTATIONS,
];
