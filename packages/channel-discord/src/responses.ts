import { BoundedMap, ChannelError, type OutboundPart, type ReplyRoute } from '@parley/core';
import { z } from 'zod';
import type { CallExtras, DiscordApi, MessageBody, OwnMessage } from './api.ts';
import { shownText } from './component-layout.ts';
import { callFailureOf } from './failures.ts';

/** Visible to the sender of the command only. */
export const EPHEMERAL = 1 << 6;
/** "thinking" is shown still. */
const LOADING = 1 << 7;

/** The place where Discord waits for the answer to a command. */
const Place = z.object({
  application: z.string(),
  /** Good for 15 minutes. */
  token: z.string(),
  /** The answer is for this person alone; absent: for everyone in the chat. */
  only: z.string().optional(),
  /** The bot cannot write there: everything goes by the token, or not at all. */
  bound: z.literal(true).optional(),
  /** The first answer is the message with the pressed button, which stays as it is. */
  further: z.literal(true).optional(),
});
type Place = z.infer<typeof Place>;

/** In the form that travels with message and route. */
export function writePlace(place: Place): string {
  return JSON.stringify(place);
}

type Waiting = Place & { readonly id: string };

/** The command that a message on this route answers; undefined: none, as for what has been sent since. */
function answeredCommand({
  replyToMessageId: id,
  response,
}: Pick<ReplyRoute, 'replyToMessageId' | 'response'>): Waiting | undefined {
  if (id === undefined || response === undefined) return undefined;
  return { ...Place.parse(JSON.parse(response)), id };
}

interface ResponseDeps {
  readonly api: Pick<
    DiscordApi,
    'create' | 'currentAnswer' | 'changeAnswer' | 'followUp' | 'dropAnswer' | 'directWith'
  >;
}

/** A pressed button or a filled-in form. */
interface Press {
  readonly id: string;
  readonly application: string;
  readonly token: string;
}

/** A part as Discord takes it. */
interface Answer {
  readonly part: OutboundPart;
  readonly body: MessageBody;
  readonly extras: CallExtras;
}

/** The error beyond five further messages, the limit where the bot is no member. */
const TOO_MANY_FOLLOW_UPS = 40094;
/** Discord takes no more: unknown interaction, token expired, never acknowledged, too many messages. */
const OVER: ReadonlySet<number> = new Set([10015, 10062, 50027, TOO_MANY_FOLLOW_UPS]);
const UNKNOWN_MESSAGE = 10008;
const MAX_COMMANDS = 1_000;

/** Whether only answers to an interaction reach the place of a route: nothing else is shown or sent there. */
export function isBound(route: Pick<ReplyRoute, 'replyToMessageId' | 'response'>): boolean {
  return answeredCommand(route)?.bound === true;
}

/** Answers to slash commands: the first part takes the place of "thinking". */
export class Responses {
  readonly #api: ResponseDeps['api'];
  /** By command: settles when Discord was told that an answer comes. */
  readonly #acknowledged = new BoundedMap<string, Promise<void>>(MAX_COMMANDS);
  /** By command: the part that has taken the place of "thinking"; null: none has. */
  readonly #first = new BoundedMap<string, string | null>(MAX_COMMANDS);
  /** By command and part: the further message that this process has sent for it. */
  readonly #followedUp = new BoundedMap<string, string>(MAX_COMMANDS);
  /** By channel or thread: the newest press of a button there, which takes answers for 15 minutes more. */
  readonly #pressed = new BoundedMap<string, Press>(MAX_COMMANDS);

  constructor({ api }: ResponseDeps) {
    this.#api = api;
  }

  /** A command has arrived. Its answer waits for `acknowledged`, which never rejects. */
  expect(id: string, acknowledged: Promise<void>): void {
    this.#acknowledged.set(id, acknowledged);
    this.#first.set(id, null);
  }

  /** A button was pressed, or a form filled in. An answer that has waited for it may be too late for its own command. */
  pressed(channelId: string, press: Press): void {
    this.#pressed.set(channelId, press);
  }

  /**
   * Answers a command in place; what is private never goes elsewhere but to the person's direct chat. Undefined:
   * the part is an ordinary message.
   */
  async send(answer: Answer): Promise<string | undefined> {
    const place = answeredCommand(answer.part.route);
    if (place === undefined) return undefined;
    let last: { readonly code: number; readonly thrown: unknown } | undefined;
    for (const one of this.#takers(place, answer.part.route)) {
      await this.#acknowledged.get(one.answers);
      try {
        return await this.#respond(one.place, answer);
      } catch (thrown) {
        const failure = callFailureOf(thrown);
        if (failure.kind !== 'refused' || !OVER.has(failure.code)) throw thrown;
        last = { code: failure.code, thrown };
      }
    }
    if (place.only !== undefined) return this.#sendAlone(place.only, answer);
    if (place.bound === undefined) return undefined;
    const why =
      last?.code === TOO_MANY_FOLLOW_UPS
        ? 'Discord takes no further message as an answer there'
        : 'the 15 minutes are over in which Discord takes answers there';
    const text = `Not sent: the bot cannot write in that chat, and ${why}.`;
    throw new ChannelError({ kind: 'refused' }, text, last?.thrown);
  }

  /** The command itself, and where nothing else reaches the chat the last press there: each with the id it answers. */
  #takers(place: Waiting, { chatId, threadId = chatId }: ReplyRoute) {
    const own = { place, answers: place.id };
    const press = place.bound === undefined ? undefined : this.#pressed.get(threadId);
    if (press === undefined || press.token === place.token) return [own];
    const { id, application, token } = press;
    const further = { ...place, application, token, further: true as const };
    return [own, { place: further, answers: id }];
  }

  /** No answer follows: "thinking" goes. */
  async drop(route: Pick<ReplyRoute, 'replyToMessageId' | 'response'>): Promise<void> {
    const place = answeredCommand(route);
    if (place === undefined || place.further === true) return;
    await this.#acknowledged.get(place.id);
    if ((await this.#firstOf(place)) !== null) return;
    await this.#api.dropAnswer(place.application, place.token);
  }

  async #respond(place: Waiting, { part, body, extras }: Answer): Promise<string | undefined> {
    const { id, application, token, only, bound, further } = place;
    const key = part.idempotencyKey;
    if (further === undefined) {
      const first = await this.#firstOf(place);
      // An earlier process may have put this very part there.
      if (typeof first === 'object' && first !== null && isSameText(first, body)) return first.id;
      if (first === null || first === key) {
        this.#first.set(id, key);
        const changed = await undefinedIfDismissed(
          this.#api.changeAnswer(application, token, body, extras),
        );
        if (changed !== undefined) return changed.id;
      }
    }
    // Ordinary messages have a nonce, so they are never sent twice.
    if (only === undefined && bound === undefined) return undefined;
    const sent = `${id} ${key}`;
    const known = this.#followedUp.get(sent);
    if (known !== undefined) return known;
    const flags = Number(body.flags ?? 0) | (only === undefined ? 0 : EPHEMERAL);
    const message = await this.#api.followUp(application, token, { ...body, flags }, extras);
    this.#followedUp.set(sent, message.id);
    return message.id;
  }

  /**
   * The message in the place of "thinking": the key of a part, null while that is shown; the message or, where it was
   * dismissed, undefined for commands of an earlier process, of which only Discord knows.
   */
  async #firstOf({ id, application, token }: Waiting) {
    const known = this.#first.get(id);
    if (known !== undefined) return known;
    const shown = await undefinedIfDismissed(this.#api.currentAnswer(application, token));
    return ((shown?.flags ?? 0) & LOADING) !== 0 ? null : shown;
  }

  async #sendAlone(person: string, { part, body, extras }: Answer): Promise<string> {
    const origin = { nonce: part.idempotencyKey, enforce_nonce: true };
    try {
      const channelId = await this.#api.directWith(person);
      return (await this.#api.create(channelId, { ...body, ...origin }, extras)).id;
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      if (failure.kind !== 'refused') throw thrown;
      const why = `the 15 minutes are over in which Discord shows an answer to one person alone, and a direct message is refused: ${failure.reason}`;
      throw new ChannelError({ kind: 'refused' }, `A private answer is not sent: ${why}.`, thrown);
    }
  }
}

/** Discord takes blanks around a text away. */
function isSameText(message: OwnMessage, body: MessageBody): boolean {
  return shownText(message).trim() === shownText(body).trim();
}

/** Undefined: the sender has dismissed the message. */
async function undefinedIfDismissed(call: Promise<OwnMessage>): Promise<OwnMessage | undefined> {
  try {
    return await call;
  } catch (thrown) {
    const failure = callFailureOf(thrown);
    if (failure.kind === 'refused' && failure.code === UNKNOWN_MESSAGE) return undefined;
    throw thrown;
  }
}
