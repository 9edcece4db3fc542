import { REAL_LIMITS } from '../telegram/faults.ts';
import type { FileKind } from '../telegram/files.ts';
import { startTelegramDouble } from '../telegram/start-telegram-double.ts';
import type { TelegramDouble } from '../telegram/telegram-double.ts';
import type { VisibleMessage } from '../telegram/transcript.ts';
import { renderTelegram } from './draw/telegram.ts';
import type { PlayClock } from './play-clock.ts';
import {
  type PlatformBackend,
  type PlatformFile,
  type PlatformMessage,
  type PlatformNotice,
  type PlatformPersonMessage,
  type PlatformReaction,
  SHOWN_CALLS,
} from './side.ts';

const FIRST_PERSON = 1001;
/** New groups are supergroups, because only supergroups have topics. */
const FIRST_GROUP = -1_001_000_000_000;
/** The time for which Telegram shows typing and drafts. */
const TYPING_MS = 5_000;
const DRAFT_MS = 30_000;

export async function startTelegramBackend(
  clock: PlayClock,
  port: number | undefined,
): Promise<PlatformBackend> {
  const double = await startTelegramDouble({
    clock: clock.now,
    limits: REAL_LIMITS,
    ...(port !== undefined && { port }),
  });
  return new TelegramBackend(double, clock);
}

interface ChatLocation {
  readonly chat: number;
  readonly thread?: number;
}

class TelegramBackend implements PlatformBackend {
  readonly platform = 'telegram';
  readonly can = { delete: false, press: true, thread: true, block: true };
  readonly faults: PlatformBackend['faults'];
  readonly #double: TelegramDouble;
  readonly #clock: PlayClock;
  readonly #names = new Map<number, string>();
  readonly #groups = new Map<number, string>();
  readonly #threads = new Map<string, string>();
  /** People's files and reactions by chat and message; the transcript does not keep them. */
  readonly #files = new Map<string, PlatformFile>();
  readonly #reactions = new Map<string, Map<number, string>>();
  /** The latest button press in each chat. */
  readonly #presses = new Map<string, { readonly query: string; readonly from: string }>();
  readonly #drafts = new Map<number, { readonly draft: object; readonly at: number }>();

  constructor(double: TelegramDouble, clock: PlayClock) {
    this.#double = double;
    this.#clock = clock;
    this.faults = createFaultActions(double);
  }

  get bot() {
    return `@${this.#double.me.username}`;
  }

  get settings() {
    return { token: this.#double.token, apiRoot: this.#double.apiRoot };
  }

  get changes() {
    return this.#double.transcript.changes;
  }

  addPerson(name: string, nth: number): string {
    this.#names.set(FIRST_PERSON + nth, name);
    return String(FIRST_PERSON + nth);
  }

  directChat(person: string): string {
    return person;
  }

  addGroup(title: string): string {
    const id = FIRST_GROUP - this.#groups.size - 1;
    this.#groups.set(id, title);
    return String(id);
  }

  addThread(group: string, title: string, from: string): string {
    const thread = 100 + this.#threads.size;
    const id = `${group}/${thread}`;
    this.#threads.set(id, title);
    const forum_topic_created = { name: title, icon_color: 7322096 };
    this.#double.say({
      ...{ chat: this.#known(Number(group)), from: this.#user(from), thread },
      extra: { forum_topic_created },
    });
    return id;
  }

  setBot({ chat, kind }: { readonly chat: string; readonly kind: string }, isIn: boolean): void {
    const out = kind === 'direct' ? 'blocked' : 'kicked';
    this.#double.setAccess(Number(chat), isIn ? 'open' : out);
  }

  say({ chat, from, text, mention, replyTo, file }: PlatformPersonMessage): string {
    const place = parseLocation(chat);
    const sent = this.#double.say({
      chat: this.#known(place.chat),
      from: this.#user(from),
      thread: place.thread,
      text: mention ? `${this.bot} ${text}` : text,
      replyTo: replyTo === undefined ? undefined : Number(replyTo),
      ...(file && { file: { ...file, kind: toFileKind(file.type) } }),
    });
    const id = String(sent.message_id);
    if (file !== undefined) {
      const { name, type, bytes } = file;
      this.#files.set(`${place.chat} ${id}`, { name, type, read: () => bytes });
    }
    return id;
  }

  edit(chat: string, message: string, _from: string, text: string): void {
    this.#double.reword(parseLocation(chat).chat, Number(message), text);
  }

  react({ chat, message, from, emoji, gone }: PlatformReaction): void {
    const place = `${parseLocation(chat).chat} ${message}`;
    const known = this.#reactions.get(place) ?? new Map<number, string>();
    this.#reactions.set(place, known);
    const person = Number(from);
    if (gone) known.delete(person);
    else known.set(person, emoji);
    this.#double.react({
      ...{ chat: parseLocation(chat).chat, message: Number(message), from: this.#user(from) },
      emojis: gone ? [] : [emoji],
    });
  }

  press(chat: string, message: string, from: string, label: string): void {
    const place = parseLocation(chat).chat;
    const press = { chat: place, message: Number(message), label, from: this.#user(from) };
    this.#presses.set(chat, { query: this.#double.press(press), from });
  }

  notice(chat: string): PlatformNotice | undefined {
    const press = this.#presses.get(chat);
    if (press === undefined) return undefined;
    const answers = this.#double.calls('answerCallbackQuery');
    const answer = answers.find(({ params }) => params.callback_query_id === press.query);
    const { text } = answer?.params ?? {};
    return typeof text === 'string' ? { to: press.from, text, at: answer?.at ?? 0 } : undefined;
  }

  clearFaults(): void {
    this.#double.clearFaults();
  }

  messages(chat: string): PlatformMessage[] {
    const place = parseLocation(chat);
    const all = this.#double.conversation(place.chat);
    const here = all.filter(({ threadId }) => threadId === place.thread);
    const shown = here.filter(({ text, file, messageId }) => {
      return text !== '' || file !== undefined || this.#files.has(`${place.chat} ${messageId}`);
    });
    const messages = shown.map((message) => this.#message(message));
    const draft = place.thread === undefined ? this.#draftIn(place.chat, messages) : undefined;
    return draft === undefined ? messages : [...messages, draft];
  }

  isTyping(chat: string): boolean {
    const { chat: id } = parseLocation(chat);
    const since = this.#clock.now() - TYPING_MS;
    const calls = this.#double.calls().slice(-SHOWN_CALLS);
    const last = calls.findLast(({ params }) => Number(params.chat_id) === id);
    return last?.method === 'sendChatAction' && last.at > since;
  }

  commands() {
    const last = this.#double.calls('setMyCommands').at(-1)?.params.commands;
    const list: unknown = typeof last === 'string' ? JSON.parse(last) : last;
    if (!Array.isArray(list)) return [];
    return list.map(({ command, description }) => ({ name: String(command), description }));
  }

  calls() {
    return this.#double
      .calls()
      .filter(({ method, outcome }) => method !== 'getUpdates' || outcome !== 200)
      .slice(-SHOWN_CALLS)
      .map(({ at, method, outcome, description = '' }) => ({
        ...{ at, call: method, outcome: `${outcome} ${description}`.trim() },
        isTrouble: outcome !== 200,
      }));
  }

  close(): Promise<void> {
    return this.#double.close();
  }

  #known(id: number) {
    const title = this.#groups.get(id);
    if (title === undefined) return { ...this.#user(String(id)), type: 'private' };
    return { id, type: 'supergroup', title };
  }

  #user(id: string) {
    return { id: Number(id), first_name: this.#names.get(Number(id)) ?? `User ${id}` };
  }

  #message(message: VisibleMessage): PlatformMessage {
    const { chatId, messageId, from, at, text, entities, edits, replyTo, threadId } = message;
    const place = `${chatId} ${messageId}`;
    const sent = message.file && toPlatformFile(message.file);
    const file = sent ?? this.#files.get(place);
    const byPeople = [...(this.#reactions.get(place) ?? [])].map(
      ([person, emoji]) => [emoji, String(person)] as const,
    );
    return {
      id: String(messageId),
      from: String(from),
      ...{ at, text, html: renderTelegram(text, entities), isEdited: edits > 0 },
      // Every message in a topic is a reply to the topic's first message.
      ...(replyTo !== undefined && replyTo !== threadId && { replyTo: String(replyTo) }),
      files: file === undefined ? [] : [file],
      buttons: message.buttons ?? [],
      reactions: [
        ...(message.reaction === undefined ? [] : [[message.reaction, 'bot'] as const]),
        ...byPeople,
      ],
      violations: [],
    };
  }

  /** The draft of a streamed text, until its final message is sent. */
  #draftIn(chat: number, messages: readonly PlatformMessage[]): PlatformMessage | undefined {
    const draft = this.#double.drafts().findLast(({ chatId }) => chatId === chat);
    if (draft === undefined) return undefined;
    const known = this.#drafts.get(chat);
    const at = known?.draft === draft ? known.at : this.#clock.now();
    this.#drafts.set(chat, { draft, at });
    const { text } = draft;
    const last = messages.findLast(({ from }) => from === 'bot');
    const isOver = last !== undefined && (last.at >= at || last.text.startsWith(text.slice(0, 20)));
    if (text === '' || isOver || this.#clock.now() - at > DRAFT_MS) return undefined;
    return {
      ...{ id: 'draft', from: 'bot', at, text, html: renderTelegram(text, []), isEdited: false },
      ...{ isGrowing: true, files: [], buttons: [], reactions: [], violations: [] },
    };
  }
}

function createFaultActions(double: TelegramDouble): PlatformBackend['faults'] {
  const method = 'sendMessage';
  const refuse = (code: number, description: string) =>
    ({ kind: 'refuse', code, description, method }) as const;
  const chatOf = (chat: string | undefined) =>
    chat === undefined ? {} : { chat: parseLocation(chat).chat };
  return {
    'rate-limit': ({ chat, seconds, times }) =>
      double.fault({
        ...refuse(429, `Too Many Requests: retry after ${seconds}`),
        ...{ parameters: { retry_after: seconds }, times, ...chatOf(chat) },
      }),
    'server-error': ({ chat, times }) =>
      double.fault({ kind: 'status', status: 502, method, times, ...chatOf(chat) }),
    'format-refused': ({ chat, times }) =>
      double.fault({
        ...refuse(400, "Bad Request: can't parse entities: refused by the player"),
        ...{ times, ...chatOf(chat) },
      }),
    'reset-before': ({ chat, times }) =>
      double.fault({ kind: 'reset', method, times, ...chatOf(chat) }),
    'reset-after': ({ chat, times }) =>
      double.fault({ kind: 'reset', after: true, method, times, ...chatOf(chat) }),
    hang: ({ chat, times }) => double.fault({ kind: 'hang', method, times, ...chatOf(chat) }),
    // Updates are redelivered when the response that contains them is lost.
    duplicate: () => double.fault({ kind: 'reset', method: 'getUpdates', after: true }),
    silence: () => double.fault({ kind: 'hang', method: 'getUpdates' }),
    drop: () => double.dropConnections(),
    'session-lost': () => void double.endPoll(),
  };
}

function parseLocation(chat: string): ChatLocation {
  const [id, thread] = chat.split('/').map(Number);
  return { chat: id ?? 0, ...(thread !== undefined && { thread }) };
}

function toFileKind(type: string): FileKind {
  if (/^image\/(jpeg|png)$/.test(type)) return 'photo';
  if (/^audio\/(ogg|opus|webm)/.test(type)) return 'voice';
  if (type.startsWith('audio/')) return 'audio';
  return type.startsWith('video/') ? 'video' : 'document';
}

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  ogg: 'audio/ogg',
  txt: 'text/plain',
};

function toPlatformFile({ name, bytes }: NonNullable<VisibleMessage['file']>): PlatformFile {
  const type = TYPES[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';
  return { name, type, read: () => bytes };
}
