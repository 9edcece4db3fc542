import type { Clock, LiveBus, Logger, Meter, PassPoint, ReplyRoute, Tracer } from '@parley/core';
import type { WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import type { SkillCommands } from './command.ts';
import type { DecisionRules } from './decide.ts';
import type { Desks } from './desk.ts';
import type { Situation } from './notices.ts';

/** What ingress of one channel account works with. */
export interface IngressDeps {
  readonly store: Pick<
    Store,
    'inbox' | 'outbox' | 'overheard' | 'pairing' | 'decisions' | 'why' | 'links' | 'todos'
  >;
  readonly lanes: Pick<WakeUpQueue, 'kick'>;
  /** Wakes the delivery of a chat, of any account. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
  /** False: nothing is ever said to strangers on this channel (F05). */
  readonly answersStrangers: boolean;
  /** A fresh one-time code, unguessable. */
  readonly newCode: () => string;
  readonly bus: LiveBus;
  readonly rules: DecisionRules;
  readonly situation: () => Situation;
  /** For `/help`; absent: there are no skills. */
  readonly skillCommands?: SkillCommands | undefined;
  /** For `/memory`, `/soul` and the like; without one the command says that nobody answers it. */
  readonly desks?: Desks | undefined;
  readonly log: Logger;
  readonly meter: Meter;
  /** Without it nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly clock: Clock;
  readonly pass: PassPoint;
}
