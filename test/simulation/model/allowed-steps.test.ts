import { describe, expect, test } from 'vitest';
import type { TableChange, TraceStep } from '../changes.ts';
import { checkTrace } from './allowed-steps.ts';

const CONVERSATION = 'telegram:1';
const CHAT = 'telegram/default/1';

const accepted = (message: number): TableChange => ({
  kind: 'accepted',
  conversation: CONVERSATION,
  message,
});

const message = (
  id: number,
  from: string,
  to: string,
  turn: string | null = 't1',
): TableChange => ({
  ...{ kind: 'message', conversation: CONVERSATION, message: id, from, to, turn },
});

const lane = (epoch: number, holder: string | null): TableChange => ({
  ...{ kind: 'lane', conversation: CONVERSATION, epoch, holder, until: 8_000 },
});

const turn = (id: string, from: string | null, to: string, attempts = 1): TableChange => ({
  ...{ kind: 'turn', conversation: CONVERSATION, turn: id, from, to, attempts },
});

const part = (
  id: string,
  from: string | null,
  to: string,
  { of = 't1', order = Number(id.slice(1)) }: { of?: string | null; order?: number } = {},
): TableChange => ({ kind: 'part', part: id, chat: CHAT, order, turn: of, from, to });

const sent = (id: string, key: string | null = `key of ${id}`): TableChange => ({
  ...{ kind: 'sent', part: id, key, chat: CHAT },
});

const letter = (of: string): TableChange => ({ kind: 'dead-letter', id: 1, of });

const by = (process: string, ...changes: TableChange[]): TraceStep => ({ at: 0, process, changes });
const gateway = (...changes: TableChange[]) => by('gateway', ...changes);
const worker = (...changes: TableChange[]) => by('worker1', ...changes);
const other = (...changes: TableChange[]) => by('worker2', ...changes);
const world = (...changes: TableChange[]) => by('world', ...changes);

/** ① and ② of one message, then ③ with two parts. */
const BEGUN = [
  gateway(lane(0, null), accepted(1)),
  worker(lane(1, 'w1'), turn('t1', null, 'running'), message(1, 'waiting', 'claimed')),
];
const COMMIT = [
  turn('t1', 'running', 'answered'),
  message(1, 'claimed', 'done'),
  part('p1', null, 'pending'),
  part('p2', null, 'pending'),
  lane(1, null),
];
const ANSWERED = [...BEGUN, worker(...COMMIT)];
const MARKED = [...ANSWERED, gateway(part('p1', 'pending', 'sending'))];
const FAILED = [turn('t1', 'running', 'failed'), message(1, 'claimed', 'done')];
const TAKEN_OVER = other(lane(2, 'w2'), turn('t1', 'running', 'running', 2));

const ALLOWED: readonly (readonly [name: string, steps: readonly TraceStep[]])[] = [
  [
    'an answer in two parts',
    [
      ...MARKED,
      gateway(sent('p1')),
      gateway(part('p1', 'sending', 'sent'), part('p2', 'pending', 'sending')),
      gateway(sent('p2')),
      gateway(part('p2', 'sending', 'sent')),
      gateway(part('p1', 'sent', 'removed'), part('p2', 'sent', 'removed')),
    ],
  ],
  [
    'another worker that resumes the turn of a dead one',
    [...BEGUN, TAKEN_OVER, other(...COMMIT.slice(0, 4), lane(2, null))],
  ],
  [
    'a stop while a turn runs and messages wait',
    [
      ...BEGUN,
      gateway(accepted(2)),
      gateway(
        lane(2, null),
        turn('t1', 'running', 'stopped'),
        message(1, 'claimed', 'done'),
        message(2, 'waiting', 'done', null),
        part('p1', null, 'pending', { of: null }),
      ),
      worker(part('p2', null, 'pending')),
    ],
  ],
  [
    'messages that join a running turn, and an interruption',
    [
      ...BEGUN,
      gateway(accepted(2)),
      worker(message(2, 'waiting', 'claimed')),
      gateway(accepted(3)),
      worker(
        turn('t1', 'running', 'interrupted'),
        message(1, 'claimed', 'waiting', null),
        message(2, 'claimed', 'waiting', null),
      ),
      worker(
        turn('t2', null, 'running'),
        message(1, 'waiting', 'claimed', 't2'),
        message(2, 'waiting', 'claimed', 't2'),
        message(3, 'waiting', 'claimed', 't2'),
      ),
    ],
  ],
  [
    'the answer to a question behind the message of another person',
    [
      ...BEGUN,
      worker(turn('t1', 'running', 'running', 0), lane(1, null)),
      gateway(accepted(2), accepted(3)),
      worker(lane(2, 'w1'), turn('t1', 'running', 'running', 1), message(3, 'waiting', 'claimed')),
    ],
  ],
  [
    'a person who takes the chat over before an answer is sent, and answers the next message',
    [
      ...ANSWERED,
      gateway(lane(2, null), part('p1', 'pending', 'failed'), part('p2', 'pending', 'failed')),
      gateway(accepted(2)),
      by(
        'gateway2',
        turn('r1', null, 'answered'),
        message(2, 'waiting', 'done', 'r1'),
        part('p3', null, 'pending', { of: 'r1' }),
      ),
    ],
  ],
  [
    'a person who answers in the place of a running turn',
    [
      ...BEGUN,
      gateway(lane(2, null)),
      by(
        'gateway2',
        turn('t1', 'running', 'interrupted'),
        turn('r1', null, 'answered'),
        message(1, 'claimed', 'done', 'r1'),
        part('p1', null, 'pending', { of: 'r1' }),
      ),
    ],
  ],
  [
    'a part that the platform refuses, with its dead letter',
    [
      ...MARKED,
      gateway(
        part('p1', 'sending', 'failed'),
        letter('p1'),
        part('p3', null, 'pending', { of: null }),
      ),
      gateway(part('p2', 'pending', 'sending')),
    ],
  ],
  [
    'an uncertain part that a person has sent again',
    [
      ...MARKED,
      gateway(sent('p1', null)),
      gateway(part('p1', 'sending', 'unknown'), letter('p1')),
      gateway(part('p1', 'unknown', 'pending', { order: 3 })),
      gateway(part('p2', 'pending', 'sending')),
      gateway(part('p2', 'sending', 'sent'), part('p1', 'pending', 'sending', { order: 3 })),
      gateway(sent('p1', null)),
    ],
  ],
  [
    'a repetition under the same key',
    [
      ...MARKED,
      gateway(sent('p1')),
      gateway(part('p1', 'sending', 'pending')),
      gateway(part('p1', 'pending', 'sending')),
      gateway(part('p1', 'sending', 'sent')),
    ],
  ],
  [
    'a turn that fails with a dead letter and is replayed',
    [
      ...BEGUN,
      worker(...FAILED, letter('t1'), lane(1, null)),
      gateway(message(1, 'done', 'waiting', null)),
      worker(lane(2, 'w1'), turn('t2', null, 'running'), message(1, 'waiting', 'claimed', 't2')),
    ],
  ],
  [
    'a power cut that undoes a claim, and one that undoes a receipt',
    [
      ...BEGUN,
      world(
        lane(0, null),
        turn('t1', 'running', 'removed'),
        message(1, 'claimed', 'waiting', null),
      ),
      worker(lane(1, 'w1'), turn('t2', null, 'running'), message(1, 'waiting', 'claimed', 't2')),
      worker(
        turn('t2', 'running', 'answered'),
        message(1, 'claimed', 'done', 't2'),
        part('p1', null, 'pending', { of: 't2' }),
      ),
      gateway(part('p1', 'pending', 'sending', { of: 't2' })),
      gateway(part('p1', 'sending', 'sent', { of: 't2' })),
      world(part('p1', 'sent', 'sending', { of: 't2' })),
    ],
  ],
  [
    'work left by the previous version',
    [
      worker(lane(8, 'w1'), turn('old', 'running', 'running', 3)),
      worker(turn('old', 'running', 'answered', 3), message(5, 'claimed', 'done', 'old')),
      gateway(part('p0', 'sending', 'sent')),
    ],
  ],
];

const FORBIDDEN: readonly (readonly [rule: number, name: string, steps: readonly TraceStep[]])[] = [
  [0, 'a message that is stored twice', [gateway(accepted(1)), gateway(accepted(1))]],
  [
    0,
    'a row that changed behind the back of the trace',
    [...MARKED, gateway(part('p1', 'pending', 'sending'))],
  ],
  [
    1,
    'a second running turn',
    [
      ...BEGUN,
      gateway(accepted(2)),
      worker(turn('t2', null, 'running'), message(2, 'waiting', 'claimed', 't2')),
    ],
  ],
  [2, 'an epoch that falls', [...BEGUN, worker(lane(0, 'w1'))]],
  [2, 'a lane that changes hands under the same epoch', [...BEGUN, other(lane(1, 'w2'))]],
  [
    2,
    'a power cut that undoes a synced epoch',
    [...BEGUN, gateway(accepted(2)), world(lane(0, null))],
  ],
  [
    3,
    'a commit by a worker that was presumed dead',
    [
      ...BEGUN,
      TAKEN_OVER,
      worker(turn('t1', 'running', 'answered', 2), message(1, 'claimed', 'done')),
    ],
  ],
  [
    3,
    'a claim under a lost lease',
    [...BEGUN, gateway(accepted(2)), TAKEN_OVER, worker(message(2, 'waiting', 'claimed'))],
  ],
  [
    4,
    'a turn that takes the newer message',
    [
      gateway(accepted(1), accepted(2)),
      worker(lane(1, 'w1'), turn('t1', null, 'running'), message(2, 'waiting', 'claimed')),
    ],
  ],
  [
    5,
    'a message that vanishes',
    [gateway(accepted(1)), gateway(message(1, 'waiting', 'removed', null))],
  ],
  [
    5,
    'a message that is done while its turn runs',
    [...BEGUN, worker(message(1, 'claimed', 'done'))],
  ],
  [
    5,
    'a message that stays claimed by a turn that has ended',
    [...BEGUN, worker(turn('t1', 'running', 'answered'))],
  ],
  [
    5,
    'a message of an interrupted turn that does not wait again',
    [...BEGUN, worker(turn('t1', 'running', 'interrupted'), message(1, 'claimed', 'done'))],
  ],
  [
    5,
    'an answered message that waits again',
    [...ANSWERED, gateway(message(1, 'done', 'waiting', null))],
  ],
  [
    5,
    'a power cut that forgets an accepted message',
    [gateway(accepted(1)), world(message(1, 'waiting', 'removed', null))],
  ],
  [
    6,
    'a turn that is answered twice',
    [...ANSWERED, worker(turn('t1', 'answered', 'failed'), letter('t1'))],
  ],
  [6, 'a power cut that undoes an answer', [...ANSWERED, world(turn('t1', 'answered', 'running'))]],
  [
    7,
    'a turn that is started endlessly',
    [
      ...BEGUN,
      ...Array.from({ length: 10 }, (_, nth) =>
        worker(lane(nth + 2, 'w1'), turn('t1', 'running', 'running', nth + 2)),
      ),
    ],
  ],
  [8, 'a part that overtakes another', [...ANSWERED, gateway(part('p2', 'pending', 'sending'))]],
  [
    8,
    'a part that joins its chat before others',
    [...ANSWERED, gateway(part('p3', null, 'pending', { of: null, order: 0 }))],
  ],
  [
    9,
    'a part that vanishes before it is sent',
    [...ANSWERED, gateway(part('p1', 'pending', 'removed'))],
  ],
  [
    9,
    'a part that was sent and waits again',
    [
      ...MARKED,
      gateway(sent('p1')),
      gateway(part('p1', 'sending', 'sent')),
      gateway(part('p1', 'sent', 'pending')),
    ],
  ],
  [
    9,
    'a power cut that undoes the mark of a part',
    [...MARKED, world(part('p1', 'sending', 'pending'))],
  ],
  [10, 'a second answer of a turn', [...ANSWERED, worker(part('p3', null, 'pending'))]],
  [11, 'a part that was sent unmarked', [...ANSWERED, gateway(sent('p1'))]],
  [11, 'a receipt without a mark', [...ANSWERED, gateway(part('p1', 'pending', 'sent'))]],
  [
    11,
    'a repetition without a key of what has arrived',
    [...MARKED, gateway(sent('p1', null)), gateway(part('p1', 'sending', 'pending'))],
  ],
  [12, 'a part that is shown twice', [...MARKED, gateway(sent('p1')), gateway(sent('p1'))]],
  [
    12,
    'a repetition under another key',
    [
      ...MARKED,
      gateway(sent('p1', 'one')),
      gateway(part('p1', 'sending', 'pending')),
      gateway(part('p1', 'pending', 'sending')),
      gateway(sent('p1', 'two')),
    ],
  ],
  [13, 'a turn that fails without a dead letter', [...BEGUN, worker(...FAILED)]],
  [
    13,
    'a part that is given up without a dead letter',
    [...MARKED, gateway(part('p1', 'sending', 'unknown'))],
  ],
];

describe('[D17] the trace checker', () => {
  test.each(ALLOWED)('allows %s', (_name, steps) => {
    expect(checkTrace(steps)).toEqual([]);
  });

  test.each(FORBIDDEN)('rule %i forbids %s', (rule, _name, steps) => {
    const found = checkTrace(steps);
    expect(found.join('\n')).toMatch(new RegExp(`^rule ${rule} `, 'm'));
    // The steps before the last one do not break a rule, so the reported step is the last one.
    expect(checkTrace(steps.slice(0, -1))).toEqual([]);
  });

  test('allows a deployment to repeat parts that may have arrived, and to limit the starts of a turn', () => {
    const repeated = [
      ...MARKED,
      gateway(sent('p1', null)),
      gateway(part('p1', 'sending', 'pending')),
      gateway(part('p1', 'pending', 'sending')),
      gateway(sent('p1', null)),
    ];
    expect(checkTrace(repeated, { mayRepeat: (chat) => chat === CHAT })).toEqual([]);
    expect(checkTrace([...BEGUN, TAKEN_OVER], { maxAttempts: 1 }).join()).toMatch(/^rule 7 /);
  });

  test('does not expect a dead letter for a heartbeat, because nobody waits for it', () => {
    const conversation = 'beat:';
    const steps = [
      worker(
        { kind: 'lane', conversation, epoch: 1, holder: 'w1', until: 1 },
        { kind: 'turn', conversation, turn: 't1', from: null, to: 'running', attempts: 1 },
      ),
      worker({
        kind: 'turn',
        conversation,
        turn: 't1',
        from: 'running',
        to: 'failed',
        attempts: 1,
      }),
    ];
    expect(checkTrace(steps)).toEqual([]);
  });
});
