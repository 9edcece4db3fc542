import type { Reader } from './audience.ts';
import type { InboundMessage } from './inbound-message.ts';
import type { ReplyRoute } from './reply.ts';

/** What a job is to do and when, as a person or a model writes it (H08). */
export interface CronWish {
  readonly title?: string | undefined;
  readonly task?: string | undefined;
  /** Once: a date and time on the wall, or `in 20 min`. */
  readonly at?: string | undefined;
  /** Again and again: `30 min`, `daily at 8:00`. */
  readonly every?: string | undefined;
  /** An expression of five fields. */
  readonly cron?: string | undefined;
  /** IANA name; that of the agent when absent. */
  readonly timeZone?: string | undefined;
}

/** What somebody wants of jobs. `askedBy` names the call: the same again adds nothing. */
export type CronOrder =
  | {
      readonly action: 'add';
      readonly askedBy: string;
      /** The message that asks, and where its answers go: whose job it is, and in which chat. */
      readonly origin: InboundMessage;
      readonly route: ReplyRoute;
      readonly wish: CronWish;
    }
  | { readonly action: 'list' }
  | { readonly action: 'change'; readonly id: string; readonly wish: CronWish }
  | { readonly action: 'show'; readonly id: string }
  | { readonly action: 'remove'; readonly id: string }
  /** `run`: at once, whenever it is due. */
  | { readonly action: 'pause' | 'resume' | 'run'; readonly id: string };

/** Who wants it: the writer of a message in a chat, or whoever runs the installation. */
export type CronAsker =
  | { readonly kind: 'chat'; readonly message: InboundMessage; readonly reader: Reader }
  | { readonly kind: 'operator' };

/** What came of it, in words for people and models; refused, they say why and what to do. */
export interface CronAnswer {
  readonly ok: boolean;
  readonly words: string;
}

/** Does what is wanted of jobs, as far as the asker may. */
export type AskCron = (order: CronOrder, asker: CronAsker) => Promise<CronAnswer>;
