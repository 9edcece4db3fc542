import { CHOSEN_MUTATIONS } from './chosen-mutations.ts';
import { TAKEOVER_MUTATIONS } from './takeover-mutations.ts';

/** A fault planted in the product to verify that the simulation notices it. */
export interface Mutation {
  readonly name: string;
  /** The promise of SPEC.md that the fault breaks. */
  readonly breaks: string;
  /** The product file and the text in it that is replaced; the text must occur exactly once. */
  readonly file: string;
  readonly text: string;
  readonly by: string;
  /** The scenes that may notice the fault; they take turns. */
  readonly scenes: readonly string[];
  /**
   * The kinds of faults to use, separated by commas, when the scene has more kinds than necessary.
   */
  readonly faults?: string;
  /**
   * The number of seeds within which the fault must be found; null when it is not found yet, which
   * is a gap in the scenes.
   */
  readonly within: number | null;
}

const LANES = 'packages/store/src/lanes.ts';
const TURNS = 'packages/store/src/turns.ts';
const CLAIM = 'packages/store/src/claim-turn.ts';
const INBOX = 'packages/store/src/inbox.ts';
const OUTBOX = 'packages/store/src/outbox.ts';
const DELIVER = 'packages/channels/src/delivery/deliver-chat.ts';
const AFTER_FAILURE = 'packages/channels/src/delivery/after-failure.ts';
const LANE_WORKER = 'packages/queue/src/lane-worker.ts';

/** Planted faults. `npm run simulation:mutations` looks for each of them. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'turn writes are not fenced',
    breaks: 'D02',
    file: TURNS,
    text: 'return turn !== undefined && holdsLease(lease, turn.epoch) ? turn : null;',
    by: 'return turn ?? null;',
    scenes: ['shared'],
    faults: 'pause',
    within: 5,
  },
  {
    name: 'a valid lease is taken',
    breaks: 'D02',
    file: LANES,
    text: 'and (lease_until is null or lease_until <= ${SHARED_NOW} or lease_owner = :owner)',
    by: 'and (lease_until is null or lease_until <= ${SHARED_NOW} + 60000 or lease_owner = :owner)',
    scenes: ['shared'],
    within: 5,
  },
  {
    name: 'taking a lane does not raise its epoch',
    breaks: 'D02',
    file: LANES,
    text: 'update conversation set epoch = epoch + 1, lease_owner = :owner,\n    lease_until',
    by: 'update conversation set epoch = epoch, lease_owner = :owner,\n    lease_until',
    scenes: ['shared'],
    within: 5,
  },
  {
    name: 'leases are not renewed',
    breaks: 'D02',
    file: 'packages/queue/src/keep-leases.ts',
    text: 'looks = 0;\n    void renew();',
    by: 'looks = 0;',
    scenes: ['shared'],
    within: 10,
  },
  {
    name: 'the lane is released although a message has arrived in the meantime',
    breaks: 'D01',
    file: LANES,
    text: "  where id = :conversationId and epoch = :epoch and not exists (select 1 from inbox\n    where inbox.conversation_id = :conversationId and inbox.state = 'waiting')`);",
    by: '  where id = :conversationId and epoch = :epoch`);',
    scenes: ['embedded', 'shared'],
    within: 5,
  },
  {
    name: 'no sweep of lanes',
    breaks: 'D01',
    file: LANE_WORKER,
    text: 'const found = await deps.lanes.withWork(SWEEP_BATCH, deps.leaseMs ?? LEASE_MS);',
    by: 'const found: string[] = [];',
    scenes: ['shared', 'embedded'],
    within: 5,
  },
  {
    name: 'no sweep of accounts',
    breaks: 'D04',
    file: 'apps/gateway/src/accounts/sweep-accounts.ts',
    text: 'if (tasks.size === 0) return;',
    by: 'if (tasks.size >= 0) return;',
    scenes: ['shared'],
    faults: 'wake-ups,queue-away,kill',
    within: 20,
  },
  {
    name: 'repeated messages are stored again',
    breaks: 'D01',
    file: INBOX,
    text: "const seq = await insertOnce(sql, stored, 'waiting');",
    by: "const seq = await insertOnce(sql, { ...stored, message: { ...stored.message, messageId: `${stored.message.messageId}-${Math.random()}` } }, 'waiting');",
    scenes: ['embedded', 'shared'],
    faults: 'updates,kill',
    within: 5,
  },
  {
    name: 'a message of a burst is left out of its turn',
    breaks: 'D03',
    file: CLAIM,
    text: 'const messages = await selectFetchedRows(sql, ready, claim.now);',
    by: 'const messages = (await selectFetchedRows(sql, ready, claim.now)).slice(-1);',
    scenes: ['embedded', 'shared'],
    within: 5,
  },
  {
    name: 'claimed messages stay unclaimed',
    breaks: 'D02',
    file: CLAIM,
    text: "update inbox set state = 'claimed', turn_id = :turnId, claimed_at = :now\n  where ${IS_WAITING} and seq <= :last`);",
    by: 'update inbox set turn_id = :turnId, claimed_at = :now\n  where ${IS_WAITING} and seq <= :last`);',
    scenes: ['embedded', 'shared'],
    within: 5,
  },
  {
    name: 'an unfinished turn is not resumed',
    breaks: 'D01',
    file: CLAIM,
    text: 'const unfinished = conversation.isUnfinished ? await resumeTurn(sql, claim, run, session) : null;',
    by: "const unfinished = conversation.isUnfinished ? ('suspended' as const) : null;",
    scenes: ['embedded', 'shared'],
    faults: 'kill',
    within: 5,
  },
  {
    name: 'a postponed turn is forgotten',
    breaks: 'D01',
    file: 'packages/store/src/put-off.ts',
    text: 'put_off_until = :until,',
    by: 'put_off_until = :until + 3000000,',
    scenes: ['embedded', 'shared'],
    faults: 'model',
    within: 10,
  },
  {
    name: 'attempts of a turn are never counted',
    breaks: 'D01',
    file: CLAIM,
    text: 'attempts: turn.attempts + 1,',
    by: 'attempts: turn.attempts,',
    scenes: ['tools-embedded', 'tools-shared'],
    within: 10,
  },
  {
    name: 'the messages of an answered turn are not closed',
    breaks: 'D02',
    file: TURNS,
    text: 'sql.send(DONE, { turnId, outcome });',
    by: '',
    scenes: ['embedded'],
    within: 5,
  },
  {
    name: 'a failed turn leaves no dead letter',
    breaks: 'D06',
    file: TURNS,
    text: "if (commit.outcome === 'failed') {",
    by: "if (commit.outcome === 'answered' && turn === null) {",
    scenes: ['embedded', 'shared'],
    faults: 'kill,model',
    within: 20,
  },
  {
    name: 'the outbox does not guard the order of a chat',
    breaks: 'D04',
    file: OUTBOX,
    text: "and earlier.chat_id = outbox.chat_id and earlier.state in ('pending', 'sending')\n        and earlier.seq < outbox.seq)`);",
    by: "and earlier.chat_id = outbox.chat_id and earlier.state in ('nowhere')\n        and earlier.seq < outbox.seq)`);",
    scenes: ['embedded', 'shared'],
    within: 20,
  },
  {
    name: 'a gateway sends under a lost lease',
    breaks: 'D04',
    file: 'packages/store/src/processes.ts',
    text: 'export const HAS_LEASE',
    by: 'export const HAS_LEASE = "(:lease is null or :epoch is null or 1 = 1)" as const; const HAD_LEASE',
    scenes: ['late-gateways'],
    within: 20,
  },
  {
    name: 'a part that a dead process was sending is not recovered',
    breaks: 'D04',
    file: DELIVER,
    text: '|| (await recoverPart(deps, due));',
    by: '|| 86_400_000;',
    scenes: ['embedded', 'shared'],
    faults: 'kill',
    within: 10,
  },
  {
    name: 'a part that a dead process was sending is considered sent',
    breaks: 'D04',
    file: AFTER_FAILURE,
    text: "if (typeof found === 'string') {\n    await deps.outbox.markSent(part.id, found, deps.clock());",
    by: 'if (true) {\n    await deps.outbox.markSent(part.id, found ?? "none", deps.clock());',
    scenes: ['uncertain'],
    faults: 'kill',
    within: 5,
  },
  {
    name: 'a repeated send uses another key',
    breaks: 'D04',
    file: DELIVER,
    text: 'runWithinLimit(part, [signal, deps.lost], (limited) => deps.send(part, limited, onStart)),',
    by: 'runWithinLimit(part, [signal, deps.lost], (limited) => deps.send({ ...part, idempotencyKey: `${Math.random()}` }, limited, onStart)),',
    scenes: ['embedded', 'shared'],
    faults: 'kill,sends',
    within: 10,
  },
  {
    name: 'an unknown outcome is final although the platform recognizes the key',
    breaks: 'D04',
    file: AFTER_FAILURE,
    text: "return facts.mayRepeat ? retryPart(facts, 'unknown') : { kind: 'give-up', state: 'unknown' };",
    by: "return { kind: 'give-up', state: 'unknown' };",
    scenes: ['embedded', 'shared'],
    faults: 'sends',
    within: 5,
  },
  {
    name: 'a rate limit is treated as a refusal',
    breaks: 'D05',
    file: AFTER_FAILURE,
    text: "return { kind: 'retry', afterMs: failure.retryAfterMs, attempt: 'free' };",
    by: "return { kind: 'give-up', state: 'failed' };",
    scenes: ['embedded', 'shared'],
    faults: 'sends',
    within: 10,
  },
  {
    name: 'a part is sent before it is marked',
    breaks: 'D04',
    file: DELIVER,
    text: 'if (!(await deps.outbox.markSending(part.id, sendingAt)))',
    by: 'await deps.send(part, new AbortController().signal, () => {}); if (!(await deps.outbox.markSending(part.id, sendingAt)))',
    scenes: ['uncertain'],
    within: 5,
  },
  {
    name: 'a send has no deadline',
    breaks: 'D13',
    file: DELIVER,
    text: "() => limited.abort(new DOMException('', 'TimeoutError')),",
    by: '() => {},',
    scenes: ['embedded', 'shared'],
    faults: 'sends',
    within: 10,
  },
  {
    name: 'a turn has no time limit',
    breaks: 'D13',
    file: 'apps/parley/src/access.ts',
    text: 'turnMs: limits.turnMinutes * 60_000,',
    by: 'turnMs: limits.turnMinutes * 60_000_000,',
    scenes: ['rounds'],
    within: 5,
  },
  {
    name: "the lease of a lane is measured by each process's own clock",
    breaks: 'D02',
    file: LANES,
    text: 'beginWork(database, work, { busy, newTurnId, now, moment: sharedClock() }),',
    by: 'beginWork(database, work, { busy, newTurnId, now, moment: now }),',
    scenes: ['shared-clocks'],
    faults: 'clock,pause',
    within: 5,
  },
  {
    name: 'a lease from before the clock was set back is not shortened',
    breaks: 'D13',
    file: LANES,
    text: 'if (leftMs > leaseMs) sql.send(SHORTEN, { conversationId, moment, leaseMs });',
    by: '',
    scenes: ['database-clock'],
    within: 5,
  },
  {
    name: 'postponed work waits for a clock that was set back',
    breaks: 'D13',
    file: 'packages/store/src/due.ts',
    text: 'return now < waitsSince ? 0 : Math.max(0, notBefore - now);',
    by: 'return Math.max(0, notBefore - now);',
    scenes: ['embedded'],
    faults: 'clock,sends',
    within: 30,
  },
  {
    name: 'adapters are told that they still hold the account',
    breaks: 'D14',
    file: 'apps/gateway/src/channel-account.ts',
    text: 'holdsAccount: () => holdsAccount(),',
    by: 'holdsAccount: () => true || holdsAccount(),',
    scenes: ['gateways', 'late-gateways'],
    faults: 'pause,overtaken',
    within: 10,
  },
  {
    name: 'the Discord adapter does not check whether it still holds the account',
    breaks: 'D14',
    file: 'packages/channel-discord/src/api.ts',
    text: 'if (!holdsAccount())',
    by: 'if (!holdsAccount() && false)',
    scenes: ['discord-late'],
    within: 10,
  },
  {
    name: 'Discord messages that are being stored do not hold back the position',
    breaks: 'D01',
    file: 'packages/channel-discord/src/seen.ts',
    text: 'this.#inProgress.set(messageId, before);',
    by: 'this.#inProgress.delete(messageId, before);',
    scenes: ['discord-refused'],
    within: 10,
  },
  {
    // Either of the two guards suffices with a single Discord shard, so removing only one loses
    // nothing.
    name: 'messages delivered by an earlier session of Discord are accepted immediately',
    breaks: 'D01',
    file: 'packages/channel-discord/src/receiver.ts',
    text: `if (newest !== undefined) this.#releaseStart = this.#seen.hold(newest);
    this.#earlier.start(signal);
    this.#isPostponing = this.#earlier.arePending;
    if (this.#isPostponing) this.#intake.hold(FIRST_SHARD);`,
    by: 'this.#earlier.start(signal); this.#isPostponing = this.#earlier.arePending;',
    scenes: ['discord'],
    within: 10,
  },
  ...CHOSEN_MUTATIONS,
  ...TAKEOVER_MUTATIONS,
];
