import type { OutboundPart } from '@parley/contracts';
import type { NamedLease } from './repositories/lease-repository.ts';
import type { NewPart } from './rows.ts';

/** `sending` rows of a dead process become `pending` again or `unknown`, by the platform's ability. */
export type PartState = 'pending' | 'sending' | 'sent' | 'unknown' | 'failed';

/** The chat a lane of deliveries belongs to; parts of one chat go out in order. */
export interface ChatKey {
  readonly channel: string;
  readonly account: string;
  readonly chatId: string;
}

/** The first part of a chat that is not finished, and when it may be tried. */
export interface DuePart {
  readonly part: OutboundPart;
  readonly state: 'pending' | 'sending';
  readonly attempts: number;
  readonly notBefore: number;
  /** When it was last marked as being sent, in ms; null: never. */
  readonly sendingAt: number | null;
  /** When it was put into the outbox, in ms. */
  readonly createdAt: number;
  /** The trace it belongs to. */
  readonly trace?: string | undefined;
}

/** A part as a history shows it. */
export interface OutboxEntry {
  readonly part: OutboundPart;
  readonly state: PartState;
  readonly createdAt: number;
  readonly error: string | null;
}

/** What is known about the time before a part was sent, from the newest messages of its account. */
export interface BeforePart {
  /** Messages that the platform had numbered before; `at` in ms. */
  readonly known: readonly {
    readonly chatId: string;
    readonly messageId: string;
    readonly direction: 'in' | 'out';
    readonly at: number;
  }[];
  /** When another part of the same chat was last called uncertain, in ms; null: none ever was. */
  readonly uncertainAt: number | null;
}

/** Words for a chat in which no turn answers, such as a message to somebody else. */
export interface Post {
  /** Whoever posts under a key again changes nothing. */
  readonly key: string;
  /** All for one chat. */
  readonly parts: readonly [NewPart, ...NewPart[]];
  /** The turn that posts, and how often it may; it must be running still. Absent where no turn does. */
  readonly turn?: { readonly id: string; readonly most: number };
}

/**
 * What came of a post. `known`: an earlier call with its key has done it, and `chat` is where. `over`:
 * its turn was stopped, or its conversation begun anew. `too-many`: its turn has posted enough.
 */
export type PostResult =
  | { readonly kind: 'posted' | 'known'; readonly chat: ChatKey }
  | { readonly kind: 'over' | 'too-many' };

/** An account that seems to have work: parts to send, or files to fetch. */
export interface AccountWork {
  readonly kind: 'parts' | 'files';
  readonly channel: string;
  readonly account: string;
}

/** The durable stop between turn and delivery. Rows are made by commits; delivery moves them on. */
export interface OutboxRepository {
  /**
   * The same for a process that sends under this lease: once it is lost, nothing is marked as being sent
   * (StoreError `store-fenced`), and nothing is decided about a part that the new holder took over.
   */
  under(lease: NamedLease): OutboxRepository;
  /** The oldest unfinished part of a chat; null when all is sent. */
  next(chat: ChatKey): Promise<DuePart | null>;
  /** The oldest unfinished parts of a chat in the order in which they are sent, due or not. */
  unfinished(chat: ChatKey, limit: number): Promise<readonly DuePart[]>;
  /**
   * pending → sending; durable before the platform is called. False when it is not pending any more, or an
   * earlier part of its chat is unfinished.
   */
  markSending(partId: string, now: number): Promise<boolean>;
  /** A part that a dead process left in `sending` is now the caller's; false when it is not there any more. */
  takeOver(partId: string): Promise<boolean>;
  /** What was known before this part was marked as being sent; for finding it at the platform after a crash. */
  before(partId: string): Promise<BeforePart>;
  /**
   * sending → sent, with the platform's id; in the same transaction `following` goes from pending to
   * sending. Returns whether it did.
   */
  markSent(
    partId: string,
    platformMessageId: string,
    now: number,
    following?: string,
  ): Promise<boolean>;
  /** sending → pending, not before `notBefore`; counts an attempt unless `free`. */
  retryLater(
    partId: string,
    notBefore: number,
    error: string,
    attempt: 'counts' | 'free',
  ): Promise<void>;
  /** sending → failed or unknown, for good; `notice` (if any) joins the end of the chat's outbox. */
  giveUp(
    partId: string,
    state: 'failed' | 'unknown',
    error: string,
    now: number,
    notice: NewPart | null,
  ): Promise<void>;
  /** Moves every unfinished part of a chat to its new id (Telegram's group migration). */
  migrateChat(chat: ChatKey, newChatId: string): Promise<void>;
  /** Adds parts that no turn wrote (notices). */
  enqueue(parts: readonly NewPart[], now: number): Promise<void>;
  /** Adds parts for a chat in which no turn answers, once for each key (D04, G16). */
  post(post: Post, now: number): Promise<PostResult>;
  /** Chats of an account with unfinished parts due at `now`: the sweep and the start. */
  chatsWithWork(
    channel: string,
    account: string,
    now: number,
    limit: number,
  ): Promise<readonly ChatKey[]>;
  /** Accounts that have parts to send or files to fetch, due at `now`: one look for all of a gateway. */
  accountsWithWork(now: number): Promise<readonly AccountWork[]>;
  /** Rows per state, for `parley status` and metrics. */
  counts(): Promise<Readonly<Record<PartState, number>>>;
  /** What a chat was sent, oldest first, the newest `limit` rows; for the web history. */
  recent(chat: ChatKey, limit: number): Promise<readonly OutboxEntry[]>;
}
