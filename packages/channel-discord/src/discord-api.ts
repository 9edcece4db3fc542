import type { RawFile } from 'discord.js';
import { DiscordAPIError, REST, Routes } from 'discord.js';
import { z } from 'zod';
import type { DiscordSettings } from './settings.ts';
import { Snowflake, WireChannel, WireMessage } from './wire.ts';

/** A message to make or change, as Discord's API writes it. */
export type MessageBody = Readonly<Record<string, unknown>>;

/** What a call may carry besides its body. */
export interface CallExtras {
  readonly files?: RawFile[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A message as it stands after the bot made or changed it. */
export interface OwnMessage {
  readonly id: string;
  readonly content: string;
}

/** A slash command as the menu shows it. */
export const MenuCommand = z.object({
  name: z.string(),
  description: z.string(),
  options: z
    .array(z.object({ type: z.int(), name: z.string(), description: z.string() }))
    .default([]),
});
export type MenuCommand = z.infer<typeof MenuCommand>;

/** The calls Parley makes. They reject with what discord.js throws; `callFailureOf` reads it. */
export interface DiscordApi {
  create(channelId: string, body: MessageBody, extras?: CallExtras): Promise<OwnMessage>;
  change(
    channelId: string,
    messageId: string,
    body: MessageBody,
    extras?: CallExtras,
  ): Promise<OwnMessage>;
  remove(channelId: string, messageId: string): Promise<void>;
  react(channelId: string, messageId: string, emoji: string, put: boolean): Promise<void>;
  showTyping(channelId: string): Promise<void>;
  channel(id: string): Promise<WireChannel>;
  message(channelId: string, messageId: string, signal: AbortSignal): Promise<WireMessage>;
  /** What stands directly behind `after`, oldest first, at most 100. */
  messagesAfter(channelId: string, after: string): Promise<unknown[]>;
  menu(applicationId: string): Promise<MenuCommand[]>;
  setMenu(applicationId: string, commands: readonly MenuCommand[]): Promise<void>;
  /** The first answer to a command or press; good for 3 s. */
  answer(interactionId: string, token: string, body: MessageBody): Promise<void>;
  /** Later answers; good for 15 min. */
  changeAnswer(applicationId: string, token: string, body: MessageBody): Promise<void>;
  followUp(applicationId: string, token: string, body: MessageBody): Promise<void>;
  /** Stops what keeps count of rate limits. */
  close(): void;
}

/** Longer waits for a rate limit are left to the core, which does other things meanwhile. In ms. */
const LONGEST_OWN_WAIT_MS = 6_000;
const Own = z.object({ id: Snowflake, content: z.string().default('') });
const PAGE = 100;

/** discord.js's REST client as the one way to the API, with its rate buckets and none of its repetitions. */
export function connectDiscordApi(settings: DiscordSettings): DiscordApi {
  const rest = new REST({
    api: settings.apiRoot.replace(/\/$/, ''),
    // It would send again at once after a reset or a 500; the core does so later, and once.
    retries: 0,
    rejectOnRateLimit: ({ retryAfter, timeToReset, sublimitTimeout }) =>
      Math.max(retryAfter, timeToReset, sublimitTimeout) > LONGEST_OWN_WAIT_MS,
  }).setToken(settings.token);
  const call: Call = async (work) => {
    try {
      return await work(rest);
    } catch (thrown) {
      // discord.js forgets the token after one 401, which would outlive the cause.
      if (thrown instanceof DiscordAPIError && thrown.status === 401) rest.setToken(settings.token);
      throw thrown;
    }
  };
  return { ...messageCalls(call), ...accountCalls(call), close: () => closeRest(rest) };
}

type Call = <T>(work: (rest: REST) => Promise<T>) => Promise<T>;

function messageCalls(
  call: Call,
): Pick<
  DiscordApi,
  'create' | 'change' | 'remove' | 'react' | 'showTyping' | 'message' | 'messagesAfter'
> {
  return {
    create: (channelId, body, extras) =>
      call(async (rest) =>
        Own.parse(await rest.post(Routes.channelMessages(channelId), carry(body, extras))),
      ),
    change: (channelId, messageId, body, extras) =>
      call(async (rest) =>
        Own.parse(
          await rest.patch(Routes.channelMessage(channelId, messageId), carry(body, extras)),
        ),
      ),
    remove: (channelId, messageId) =>
      call(async (rest) => void (await rest.delete(Routes.channelMessage(channelId, messageId)))),
    react: (channelId, messageId, emoji, put) =>
      call(async (rest) => {
        const route = Routes.channelMessageOwnReaction(
          channelId,
          messageId,
          encodeURIComponent(emoji),
        );
        await (put ? rest.put(route) : rest.delete(route));
      }),
    showTyping: (channelId) =>
      call(async (rest) => void (await rest.post(Routes.channelTyping(channelId)))),
    message: (channelId, messageId, signal) =>
      call(async (rest) =>
        WireMessage.parse(await rest.get(Routes.channelMessage(channelId, messageId), { signal })),
      ),
    messagesAfter: (channelId, after) =>
      call(async (rest) => {
        const query = new URLSearchParams({ after, limit: String(PAGE) });
        const page = await rest.get(Routes.channelMessages(channelId), { query });
        return z.array(z.unknown()).parse(page).reverse();
      }),
  };
}

function accountCalls(
  call: Call,
): Pick<DiscordApi, 'channel' | 'menu' | 'setMenu' | 'answer' | 'changeAnswer' | 'followUp'> {
  return {
    channel: (id) => call(async (rest) => WireChannel.parse(await rest.get(Routes.channel(id)))),
    menu: (applicationId) =>
      call(async (rest) =>
        z.array(MenuCommand).parse(await rest.get(Routes.applicationCommands(applicationId))),
      ),
    setMenu: (applicationId, commands) =>
      call(
        async (rest) =>
          void (await rest.put(Routes.applicationCommands(applicationId), { body: commands })),
      ),
    answer: (interactionId, token, body) =>
      call(async (rest) => {
        const route = Routes.interactionCallback(interactionId, token);
        await rest.post(route, { body, auth: false });
      }),
    changeAnswer: (applicationId, token, body) =>
      call(async (rest) => {
        const route = Routes.webhookMessage(applicationId, token, '@original');
        await rest.patch(route, { body, auth: false });
      }),
    followUp: (applicationId, token, body) =>
      call(async (rest) => {
        await rest.post(Routes.webhook(applicationId, token), { body, auth: false });
      }),
  };
}

function carry(body: MessageBody, { files, signal }: CallExtras = {}) {
  return {
    body,
    ...(files === undefined ? {} : { files }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function closeRest(rest: REST): void {
  rest.clearHashSweeper();
  rest.clearHandlerSweeper();
}
