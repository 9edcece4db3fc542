import { BoundedMap, ChannelError, type OutboundPart, type ReplyRoute } from '@parley/core';
import { z } from 'zod';
import type { BotMessage, CallOptions, DiscordApi, MessageBody } from './api.ts';
import { getVisibleText } from './component-layout.ts';
import { toCallFailure } from './failures.ts';

/** Message flag: visible only to the sender of the command. */
export const EPHEMERAL = 1 << 6;
/** Message flag: "thinking" is still shown. */
const LOADING = 1 << 7;

/** Where Discord expects the answer to a command. */
const ResponseTarget = z.object({
  application: z.string(),
  /** The interaction token, which is valid for 15 minutes. */
  token: z.string(),
  /** The only person who may see the answer; absent if it is for everyone in the chat. */
  only: z.string().optional(),
  /** Whether the bot cannot write in the chat, so that everything must be sent with the token. */
  bound: z.literal(true).optional(),
  /**
   * Whether the initial response is the message with the pressed button. That message stays
   * unchanged.
   */
  further: z.literal(true).optional(),
});
type ResponseTarget = z.infer<typeof ResponseTarget>;

/** Serializes the reply location for storage with the message and its route. */
export function serializeResponseTarget(place: ResponseTarget): string {
  return JSON.stringify(place);
}

type WaitingCommand = ResponseTarget & { readonly id: string };

/**
 * The command that a message on this route answers; undefined if there is none, for example for a
 * message sent later.
 */
function findAnsweredCommand({
  replyToMessageId: id,
  response,
}: Pick<ReplyRoute, 'replyToMessageId' | 'response'>): WaitingCommand | undefined {
  if (id === undefined || response === undefined) return undefined;
  return { ...ResponseTarget.parse(JSON.parse(response)), id };
}

interface ResponseDeps {
  readonly api: Pick<
    DiscordApi,
    'create' | 'currentAnswer' | 'changeAnswer' | 'followUp' | 'dropAnswer' | 'directWith'
  >;
}

/** Whether the interaction is a pressed button or a completed form. */
interface ButtonPress {
  readonly id: string;
  readonly application: string;
  readonly token: string;
}

interface AnswerPart {
  readonly part: OutboundPart;
  readonly body: MessageBody;
  readonly extras: CallOptions;
}

/**
 * The error code after five follow-ups, which is the limit in chats where the bot is not a member.
 */
const TOO_MANY_FOLLOW_UPS = 40094;
/**
 * Error codes that mean that the interaction does not accept more responses: unknown interaction,
 * token expired, never acknowledged, too many messages.
 */
const OVER: ReadonlySet<number> = new Set([10015, 10062, 50027, TOO_MANY_FOLLOW_UPS]);
const UNKNOWN_MESSAGE = 10008;
const MAX_COMMANDS = 1_000;

/**
 * Whether a chat can be reached only by responding to an interaction; typing and edits are
 * impossible there.
 */
export function isResponseBound(route: Pick<ReplyRoute, 'replyToMessageId' | 'response'>): boolean {
  return findAnsweredCommand(route)?.bound === true;
}

/** Answers slash commands. The first message part replaces "thinking". */
export class InteractionResponder {
  readonly #api: ResponseDeps['api'];
  /** Promises, keyed by command, that settle when Discord has been told that an answer follows. */
  readonly #acknowledged = new BoundedMap<string, Promise<void>>(MAX_COMMANDS);
  /** The message part that has replaced "thinking", keyed by command; null if there is none yet. */
  readonly #first = new BoundedMap<string, string | null>(MAX_COMMANDS);
  /** The follow-up message that this process has sent, keyed by command and part. */
  readonly #followedUp = new BoundedMap<string, string>(MAX_COMMANDS);
  /** The latest button press in each channel or thread, which accepts responses for 15 minutes. */
  readonly #pressed = new BoundedMap<string, ButtonPress>(MAX_COMMANDS);

  constructor({ api }: ResponseDeps) {
    this.#api = api;
  }

  /** Records a command whose answer waits for `acknowledged`, a promise that never rejects. */
  expect(id: string, acknowledged: Promise<void>): void {
    this.#acknowledged.set(id, acknowledged);
    this.#first.set(id, null);
  }

  /**
   * Records a pressed button or a completed form. A late answer can use this interaction if its own
   * command has expired.
   */
  pressed(channelId: string, press: ButtonPress): void {
    this.#pressed.set(channelId, press);
  }

  /**
   * Sends the answer to a command instead of its "thinking" message. A private answer is sent only
   * here or to the person's direct chat. Returns undefined if the message part must be sent as an
   * ordinary message.
   */
  async send(answer: AnswerPart): Promise<string | undefined> {
    const place = findAnsweredCommand(answer.part.route);
    if (place === undefined) return undefined;
    let last: { readonly code: number; readonly thrown: unknown } | undefined;
    for (const one of this.#takers(place, answer.part.route)) {
      await this.#acknowledged.get(one.answers);
      try {
        return await this.#respond(one.place, answer);
      } catch (thrown) {
        const failure = toCallFailure(thrown);
        if (failure.kind !== 'refused' || !OVER.has(failure.code)) throw thrown;
        last = { code: failure.code, thrown };
      }
    }
    if (place.only !== undefined) return this.#sendAlone(place.only, answer);
    if (place.bound === undefined) return undefined;
    const why =
      last?.code === TOO_MANY_FOLLOW_UPS
        ? 'Discord does not accept another message as an answer there'
        : "Discord's limit of 15 minutes for answers there has passed";
    const text = `Not sent: the bot cannot write in that chat, and ${why}.`;
    throw new ChannelError({ kind: 'refused' }, text, last?.thrown);
  }

  /**
   * The interactions that can carry the answer, each with the id that it answers: the command
   * itself and, if the chat cannot be reached in any other way, the latest button press there.
   */
  #takers(place: WaitingCommand, { chatId, threadId = chatId }: ReplyRoute) {
    const own = { place, answers: place.id };
    const press = place.bound === undefined ? undefined : this.#pressed.get(threadId);
    if (press === undefined || press.token === place.token) return [own];
    const { id, application, token } = press;
    const further = { ...place, application, token, further: true as const };
    return [own, { place: further, answers: id }];
  }

  /** Removes "thinking" if no answer follows. */
  async drop(route: Pick<ReplyRoute, 'replyToMessageId' | 'response'>): Promise<void> {
    const place = findAnsweredCommand(route);
    if (place === undefined || place.further === true) return;
    await this.#acknowledged.get(place.id);
    if ((await this.#firstOf(place)) !== null) return;
    await this.#api.dropAnswer(place.application, place.token);
  }

  async #respond(
    place: WaitingCommand,
    { part, body, extras }: AnswerPart,
  ): Promise<string | undefined> {
    const { id, application, token, only, bound, further } = place;
    const key = part.idempotencyKey;
    if (further === undefined) {
      const first = await this.#firstOf(place);
      // An earlier process may have sent the same message part.
      if (typeof first === 'object' && first !== null && isSameText(first, body)) return first.id;
      if (first === null || first === key) {
        this.#first.set(id, key);
        const changed = await ignoreDismissed(
          this.#api.changeAnswer(application, token, body, extras),
        );
        if (changed !== undefined) return changed.id;
      }
    }
    // Other parts are ordinary messages, whose nonce keeps them from being sent twice.
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
   * What is shown instead of "thinking": the key of a message part, or null while "thinking" is
   * still shown. If the command is from an earlier process, the message is requested from Discord;
   * undefined if it was dismissed.
   */
  async #firstOf({ id, application, token }: WaitingCommand) {
    const known = this.#first.get(id);
    if (known !== undefined) return known;
    const shown = await ignoreDismissed(this.#api.currentAnswer(application, token));
    return ((shown?.flags ?? 0) & LOADING) !== 0 ? null : shown;
  }

  async #sendAlone(person: string, { part, body, extras }: AnswerPart): Promise<string> {
    const origin = { nonce: part.idempotencyKey, enforce_nonce: true };
    try {
      const channelId = await this.#api.directWith(person);
      return (await this.#api.create(channelId, { ...body, ...origin }, extras)).id;
    } catch (thrown) {
      const failure = toCallFailure(thrown);
      if (failure.kind !== 'refused') throw thrown;
      const why = `Discord's limit of 15 minutes for an answer to one person has passed, and a direct message was refused: ${failure.reason}`;
      throw new ChannelError({ kind: 'refused' }, `A private answer was not sent: ${why}.`, thrown);
    }
  }
}

/** Compares texts without leading and trailing whitespace, because Discord removes it. */
function isSameText(message: BotMessage, body: MessageBody): boolean {
  return getVisibleText(message).trim() === getVisibleText(body).trim();
}

/** Returns undefined if the sender has dismissed the message. */
async function ignoreDismissed(call: Promise<BotMessage>): Promise<BotMessage | undefined> {
  try {
    return await call;
  } catch (thrown) {
    const failure = toCallFailure(thrown);
    if (failure.kind === 'refused' && failure.code === UNKNOWN_MESSAGE) return undefined;
    throw thrown;
  }
}
