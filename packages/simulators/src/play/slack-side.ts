import { findEmojiName } from '../slack/emoji.ts';
import { REAL_LIMITS } from '../slack/rate-limits.ts';
import type { DisplayNames } from '../slack/rich-text.ts';
import type { SlackDouble } from '../slack/slack-double.ts';
import { startSlackDouble } from '../slack/start-slack-double.ts';
import type { VisibleMessage } from '../slack/visible.ts';
import { renderSlack } from './draw/slack.ts';
import type { PlayClock } from './play-clock.ts';
import {
  type PlatformBackend,
  type PlatformMessage,
  type PlatformPersonMessage,
  type PlatformReaction,
  SHOWN_CALLS,
} from './side.ts';

/** Starts the Slack double, to which the bot connects in Socket Mode. */
export async function startSlackBackend(
  clock: PlayClock,
  port: number | undefined,
): Promise<PlatformBackend> {
  const double = await startSlackDouble({
    clock: clock.now,
    limits: REAL_LIMITS,
    ...(port !== undefined && { port }),
  });
  return new SlackBackend(double);
}

interface ChatLocation {
  readonly channel: string;
  /** The `ts` of the first message in the thread. */
  readonly thread?: string;
}

class SlackBackend implements PlatformBackend {
  readonly platform = 'slack';
  readonly can = { delete: true, press: true, thread: true, block: false };
  readonly faults: PlatformBackend['faults'];
  readonly #double: SlackDouble;
  readonly #names = new Map<string, string>();
  /** The threads that a player has opened; replies in other threads appear in the channel. */
  readonly #threads = new Set<string>();

  constructor(double: SlackDouble) {
    this.#double = double;
    this.faults = createFaultActions(double);
    this.#names.set(double.me.id, double.me.name);
  }

  get bot() {
    return `@${this.#double.me.name}`;
  }

  get settings() {
    const { apiUrl, botToken, appToken } = this.#double;
    const options = { mode: 'socket', apiUrl, botToken, appToken };
    return { use: '@chat-adapter/slack', options };
  }

  get changes() {
    return this.#double.transcript.changes;
  }

  addPerson(name: string): string {
    const id = this.#double.addMember({ name });
    this.#names.set(id, name);
    return id;
  }

  directChat(person: string): string {
    return this.#double.directChat(person);
  }

  addGroup(title: string, members: readonly string[]): string {
    const name = title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
    const id = this.#double.addChannel({ name, members });
    this.#names.set(id, name);
    return id;
  }

  /** Opens a thread by posting a message with its title. */
  addThread(channel: string, title: string, from: string): string {
    const { ts } = this.#double.say({ channel, from, text: title });
    const id = `${channel}/${ts}`;
    this.#threads.add(id);
    return id;
  }

  setBot({ chat }: { readonly chat: string }, isIn: boolean): void {
    this.#double.setBot(chat, isIn);
  }

  say({ chat, from, text, mention, replyTo, file }: PlatformPersonMessage): string | undefined {
    const { channel, thread } = parseLocation(chat);
    const [, command, rest] = /^(\/\S+)\s*(.*)$/su.exec(text) ?? [];
    // Slack does not run commands in threads, so text that starts with `/` is sent as a message.
    if (command !== undefined && !mention && thread === undefined && replyTo === undefined) {
      this.#double.slash({ channel, command, text: rest, from });
      return undefined;
    }
    return this.#double.say({
      ...{ channel, from },
      text: mention ? `<@${this.#double.me.id}> ${text}` : text,
      threadTs: thread ?? this.#rootOf(channel, replyTo),
      files: file && [file],
    }).ts;
  }

  edit(chat: string, message: string, _from: string, text: string): void {
    this.#double.reword(parseLocation(chat).channel, message, text);
  }

  delete(chat: string, message: string): void {
    this.#double.erase(parseLocation(chat).channel, message);
  }

  react({ chat, message, from, emoji, gone }: PlatformReaction): void {
    const name = findEmojiName(emoji);
    if (name === undefined) throw new Error(`The double does not support the emoji ${emoji}.`);
    this.#double.react({ channel: parseLocation(chat).channel, ts: message, from, name, gone });
  }

  press(chat: string, message: string, from: string, label: string): void {
    this.#double.press({ channel: parseLocation(chat).channel, ts: message, from, label });
  }

  clearFaults(): void {
    this.#double.clearFaults();
  }

  messages(chat: string): PlatformMessage[] {
    const { channel, thread } = parseLocation(chat);
    return this.#double
      .conversation(channel)
      .filter(({ threadTs }) =>
        thread === undefined
          ? threadTs === undefined || !this.#threads.has(`${channel}/${threadTs}`)
          : threadTs === thread,
      )
      .map((message) => this.#message(message, thread));
  }

  isTyping(chat: string): boolean {
    const { channel, thread } = parseLocation(chat);
    return this.#double.status(channel, thread) !== undefined;
  }

  /** A bot cannot register commands on Slack; they belong to the app's settings. */
  commands(): never[] {
    return [];
  }

  calls() {
    return this.#double
      .calls()
      .slice(-SHOWN_CALLS)
      .map(({ at, method, outcome, error = '' }) => ({
        ...{ at, call: method, outcome: `${outcome} ${error}`.trim() },
        isTrouble: outcome !== 200 || error !== '',
      }));
  }

  close(): Promise<void> {
    return this.#double.close();
  }

  /** Returns the first message of the thread that a message belongs to or would open. */
  #rootOf(channel: string, ts: string | undefined): string | undefined {
    const message = this.#double.conversation(channel).find((one) => one.ts === ts);
    return message?.threadTs ?? ts;
  }

  #message(shown: VisibleMessage, thread: string | undefined): PlatformMessage {
    const { ts, threadTs, from, at, text, blocks, edits, isGrowing, onlyFor, ...rest } = shown;
    const { files, buttons, reactions, violations } = rest;
    return {
      ...{ id: ts, from, at, text, html: renderSlack(blocks, this.#shownNames()) },
      ...{ isEdited: edits > 0, isGrowing, onlyFor, buttons, reactions, violations },
      ...(threadTs !== undefined && threadTs !== thread && { replyTo: threadTs }),
      files: files.map(({ id, name, type }) => ({
        ...{ name, type },
        read: () => this.#double.file(id) ?? new Uint8Array(),
      })),
    };
  }

  #shownNames(): DisplayNames {
    const name = (id: string) => this.#names.get(id) ?? id;
    return { user: name, channel: name };
  }
}

function createFaultActions(double: SlackDouble): PlatformBackend['faults'] {
  const callIn = (chat: string | undefined, times: number) => ({
    ...{ method: 'chat.postMessage', times },
    ...(chat !== undefined && { channel: parseLocation(chat).channel }),
  });
  return {
    'rate-limit': ({ chat, seconds, times }) =>
      double.fault({ kind: 'rate-limit', seconds, ...callIn(chat, times) }),
    'server-error': ({ chat, times }) =>
      double.fault({ kind: 'status', status: 503, ...callIn(chat, times) }),
    'format-refused': ({ chat, times }) =>
      double.fault({ kind: 'refuse', error: 'invalid_blocks', ...callIn(chat, times) }),
    'reset-before': ({ chat, times }) => double.fault({ kind: 'reset', ...callIn(chat, times) }),
    'reset-after': ({ chat, times }) =>
      double.fault({ kind: 'reset', after: true, ...callIn(chat, times) }),
    hang: ({ chat, times }) => double.fault({ kind: 'hang', ...callIn(chat, times) }),
    duplicate: () => double.fault({ kind: 'duplicate' }),
    silence: () => double.mute(),
    drop: () => double.dropConnections(),
    'session-lost': () => double.askToLeave('refresh_requested'),
  };
}

function parseLocation(chat: string): ChatLocation {
  const [channel = '', thread] = chat.split('/');
  return { channel, ...(thread !== undefined && { thread }) };
}
