import type { ChannelContext } from '@parley/channels';
import { ChannelError } from '@parley/core';
import {
  DefaultRestOptions,
  DiscordAPIError,
  RateLimitError,
  type RawFile,
  REST,
  Routes,
} from 'discord.js';
import { z } from 'zod';
import type { DiscordSettings } from './settings.ts';
import { Snowflake, WireChannel, WireUser } from './wire.ts';
import { WireMessage } from './wire-message.ts';

/** The request body that creates or changes a message, in the format of Discord's API. */
export type MessageBody = Readonly<Record<string, unknown>>;

/** The options of a call besides its body. */
export interface CallOptions {
  readonly files?: RawFile[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One of the bot's messages as Discord returns it. */
export interface BotMessage {
  readonly id: string;
  readonly content: string;
  readonly flags?: number;
  /** The components, which contain the text of a card. */
  readonly components?: unknown;
}

/** A slash command in Discord's command menu. */
export const MenuCommand = z.object({
  name: z.string(),
  description: z.string(),
  options: z
    .array(z.object({ type: z.int(), name: z.string(), description: z.string() }))
    .default([]),
  /** Who may use the command, and where; null if the setting in the developer portal applies. */
  integration_types: z.array(z.int()).nullish(),
  contexts: z.array(z.int()).nullish(),
});
export type MenuCommand = z.infer<typeof MenuCommand>;

/**
 * The longest rate limit (ms) for which a call waits. Longer waits are left to the delivery loop,
 * which serves other chats during that time.
 */
const MAX_OWN_WAIT_MS = 6_000;
const Own = z.object({
  id: Snowflake,
  content: z.string().default(''),
  flags: z.int().default(0),
  components: z.unknown().optional(),
});
const Member = z.object({ roles: z.array(Snowflake) });
const PAGE = 100;
const ELSEWHERE = 'Another gateway may serve this Discord account now.';
const CLOCK_SET_BACK = "This machine's clock was set back, so the call will be repeated.";

/**
 * The calls that Parley makes. They use discord.js's REST client with its rate limit buckets, but
 * without its retries. They reject with discord.js errors, which `toCallFailure` interprets.
 */
export class DiscordApi {
  readonly #rest: REST;
  readonly #token: string;
  readonly #wasSetBack: () => boolean;

  /**
   * Once `holdsAccount` returns false, no more requests are made, because another gateway may
   * already have sent the finished answer.
   */
  constructor(
    { apiRoot, token }: DiscordSettings,
    {
      holdsAccount,
      ...time
    }: Pick<ChannelContext<unknown>, 'holdsAccount' | 'clock' | 'monotonic'>,
  ) {
    this.#token = token;
    this.#wasSetBack = createClockMonitor(time);
    this.#rest = new REST({
      api: apiRoot.replace(/\/$/, ''),
      // discord.js would retry immediately after a connection reset or a status 500; the delivery
      // loop retries later, and only once.
      retries: 0,
      // The account is checked just before the request, which may have waited for a rate limit.
      makeRequest: async (...request) => {
        if (!holdsAccount())
          throw new ChannelError({ kind: 'transient', untried: true }, ELSEWHERE);
        return DefaultRestOptions.makeRequest(...request);
      },
      rejectOnRateLimit: ({ retryAfter, timeToReset, sublimitTimeout }) =>
        Math.max(retryAfter, timeToReset, sublimitTimeout) > MAX_OWN_WAIT_MS,
    }).setToken(token);
  }

  create(channelId: string, body: MessageBody, extras?: CallOptions): Promise<BotMessage> {
    return this.#call(async (rest) =>
      Own.parse(await rest.post(Routes.channelMessages(channelId), toRequest(body, extras))),
    );
  }

  change(
    channelId: string,
    messageId: string,
    body: MessageBody,
    extras?: CallOptions,
  ): Promise<BotMessage> {
    const route = Routes.channelMessage(channelId, messageId);
    return this.#call(async (rest) => Own.parse(await rest.patch(route, toRequest(body, extras))));
  }

  async remove(channelId: string, messageId: string): Promise<void> {
    await this.#call((rest) => rest.delete(Routes.channelMessage(channelId, messageId)));
  }

  async react(channelId: string, messageId: string, emoji: string, put: boolean): Promise<void> {
    const escaped = encodeURIComponent(emoji);
    const route = Routes.channelMessageOwnReaction(channelId, messageId, escaped);
    await this.#call((rest) => (put ? rest.put(route) : rest.delete(route)));
  }

  async showTyping(channelId: string): Promise<void> {
    await this.#call((rest) => rest.post(Routes.channelTyping(channelId)));
  }

  channel(id: string): Promise<WireChannel> {
    return this.#call(async (rest) => WireChannel.parse(await rest.get(Routes.channel(id))));
  }

  user(userId: string): Promise<WireUser> {
    return this.#call(async (rest) => WireUser.parse(await rest.get(Routes.user(userId))));
  }

  /** The role ids of a server member. */
  async rolesOf(guildId: string, userId: string, signal: AbortSignal): Promise<string[]> {
    const route = Routes.guildMember(guildId, userId);
    const member = await this.#call((rest) => rest.get(route, { signal }));
    return Member.parse(member).roles;
  }

  message(channelId: string, messageId: string, signal: AbortSignal): Promise<WireMessage> {
    const route = Routes.channelMessage(channelId, messageId);
    return this.#call(async (rest) => WireMessage.parse(await rest.get(route, { signal })));
  }

  /** The messages after `after`, oldest first, at most 100. */
  messagesAfter(channelId: string, after: string): Promise<unknown[]> {
    const query = new URLSearchParams({ after, limit: String(PAGE) });
    return this.#call(async (rest) => {
      const page = await rest.get(Routes.channelMessages(channelId), { query });
      return z.array(z.unknown()).parse(page).reverse();
    });
  }

  /** Starts a thread, which gets the id of the message. */
  async startThread(channelId: string, messageId: string, name: string): Promise<void> {
    const route = Routes.threads(channelId, messageId);
    await this.#call((rest) => rest.post(route, { body: { name } }));
  }

  /** The last messages, or those before `before`, oldest first, at most 100. */
  messagesBefore(
    channelId: string,
    before: string | undefined,
    limit: number,
    signal: AbortSignal,
  ): Promise<unknown[]> {
    const query = new URLSearchParams({ ...(before && { before }), limit: String(limit) });
    return this.#call(async (rest) => {
      const page = await rest.get(Routes.channelMessages(channelId), { query, signal });
      return z.array(z.unknown()).parse(page).reverse();
    });
  }

  menu(applicationId: string): Promise<MenuCommand[]> {
    const route = Routes.applicationCommands(applicationId);
    return this.#call(async (rest) => z.array(MenuCommand).parse(await rest.get(route)));
  }

  async setMenu(applicationId: string, commands: readonly MenuCommand[]): Promise<void> {
    const route = Routes.applicationCommands(applicationId);
    await this.#call((rest) => rest.put(route, { body: commands }));
  }

  /** Sends the initial response to a command or button press, which is possible for 3 s. */
  async answer(interactionId: string, token: string, body: MessageBody): Promise<void> {
    const route = Routes.interactionCallback(interactionId, token);
    await this.#call((rest) => rest.post(route, { body, auth: false }));
  }

  /**
   * Changes the initial response, which is possible for 15 min. The same limit applies to the next
   * three calls.
   */
  changeAnswer(
    applicationId: string,
    token: string,
    body: MessageBody,
    extras?: CallOptions,
  ): Promise<BotMessage> {
    const request = { ...toRequest(body, extras), auth: false };
    const route = Routes.webhookMessage(applicationId, token);
    return this.#call(async (rest) => Own.parse(await rest.patch(route, request)));
  }

  currentAnswer(applicationId: string, token: string): Promise<BotMessage> {
    const route = Routes.webhookMessage(applicationId, token);
    return this.#call(async (rest) => Own.parse(await rest.get(route, { auth: false })));
  }

  async dropAnswer(applicationId: string, token: string): Promise<void> {
    const route = Routes.webhookMessage(applicationId, token);
    await this.#call((rest) => rest.delete(route, { auth: false }));
  }

  followUp(
    applicationId: string,
    token: string,
    body: MessageBody,
    extras?: CallOptions,
  ): Promise<BotMessage> {
    const request = { ...toRequest(body, extras), auth: false };
    const route = Routes.webhook(applicationId, token);
    return this.#call(async (rest) => Own.parse(await rest.post(route, request)));
  }

  /** The id of the direct chat with a person. */
  directWith(userId: string): Promise<string> {
    const request = { body: { recipient_id: userId } };
    return this.#call(async (rest) =>
      WireChannel.parse(await rest.post(Routes.userChannels(), request)),
    ).then(({ id }) => id);
  }

  /** Clears the rate limit timers. */
  close(): void {
    this.#rest.clearHashSweeper();
    this.#rest.clearHandlerSweeper();
  }

  async #call<T>(request: (rest: REST) => Promise<T>): Promise<T> {
    if (this.#wasSetBack()) clearRateLimits(this.#rest);
    try {
      return await request(this.#rest);
    } catch (thrown) {
      if (thrown instanceof RateLimitError && this.#wasSetBack()) {
        clearRateLimits(this.#rest);
        throw new ChannelError({ kind: 'transient', untried: true }, CLOCK_SET_BACK, thrown);
      }
      // discord.js drops the token after one 401 and would keep failing after the cause is fixed.
      if (thrown instanceof DiscordAPIError && thrown.status === 401)
        this.#rest.setToken(this.#token);
      throw thrown;
    }
  }
}

/**
 * The smallest clock adjustment (ms) that is handled. A smaller adjustment only delays a call by
 * that amount.
 */
const MIN_STEP_MS = 1_000;

/** Returns whether the wall clock was set back since the last check. */
function createClockMonitor({
  clock,
  monotonic,
}: Pick<ChannelContext<unknown>, 'clock' | 'monotonic'>): () => boolean {
  let ahead = clock() - monotonic();
  return () => {
    const before = ahead;
    ahead = clock() - monotonic();
    return ahead < before - MIN_STEP_MS;
  };
}

/**
 * Clears the rate limits in discord.js, which expire at a wall-clock time. If the clock was set
 * back by an hour, a full bucket would block its channel for an hour. If this allows too many
 * calls, Discord still rejects them.
 */
function clearRateLimits(rest: REST): void {
  rest.handlers.clear();
  rest.globalReset = -1;
  rest.globalRemaining = Math.max(1, rest.options.globalRequestsPerSecond);
}

function toRequest(body: MessageBody, { files, signal }: CallOptions = {}) {
  return {
    body,
    ...(files === undefined ? {} : { files }),
    ...(signal === undefined ? {} : { signal }),
  };
}
