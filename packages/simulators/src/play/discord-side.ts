import { z } from 'zod';
import { getOptions, getVisibleText, KIND, listComponents } from '../discord/components.ts';
import type { DiscordDouble } from '../discord/discord-double.ts';
import { parseDiscordMarkdown } from '../discord/parse-markdown.ts';
import { describeSpecialParts, parsePartsLine } from '../discord/parts-line.ts';
import { REAL_LIMITS } from '../discord/rate-limits.ts';
import { startDiscordDouble } from '../discord/start-discord-double.ts';
import type { VisibleMessage } from '../discord/transcript.ts';
import type { Json } from '../discord/wire.ts';
import { renderDiscord } from './draw/discord.ts';
import { escapeText } from './draw/escape.ts';
import type { PlayClock } from './play-clock.ts';
import {
  type PlatformBackend,
  type PlatformMessage,
  type PlatformPersonMessage,
  type PlatformReaction,
  SHOWN_CALLS,
} from './side.ts';

const FIRST_PERSON = 200_000_000_000_001_000n;
/** The time for which Discord shows that the bot is typing. */
const TYPING_MS = 10_000;
/** The number of attempts that discord.js makes for a call. */
const TRIES = 4;

const Command = z.looseObject({
  name: z.string(),
  description: z.string(),
  options: z.array(z.looseObject({ name: z.string() })).default([]),
});
type Command = z.infer<typeof Command>;

export async function startDiscordBackend(
  clock: PlayClock,
  port: number | undefined,
): Promise<PlatformBackend> {
  const double = await startDiscordDouble({
    clock: clock.now,
    limits: REAL_LIMITS,
    ...(port !== undefined && { port }),
  });
  return new DiscordBackend(double, clock);
}

class DiscordBackend implements PlatformBackend {
  readonly platform = 'discord';
  readonly can = { delete: true, press: true, thread: true, block: true };
  readonly faults: PlatformBackend['faults'];
  readonly #double: DiscordDouble;
  readonly #clock: PlayClock;
  readonly #names = new Map<string, string>();
  readonly #persons = new Map<string, string>();
  /** Commands and presses; their answers may be visible to one person only. */
  readonly #interactions: { readonly id: string; readonly chat: string; readonly from: string }[] =
    [];
  readonly #reactors = new Map<string, Set<string>>();

  constructor(double: DiscordDouble, clock: PlayClock) {
    this.#double = double;
    this.#clock = clock;
    this.faults = createFaultActions(double);
    this.#names.set(double.me.id, double.me.username);
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
    const id = String(FIRST_PERSON + BigInt(nth));
    this.#double.nameUser(id, name);
    this.#names.set(id, name);
    return id;
  }

  directChat(person: string): string {
    const chat = this.#double.dmWith(person);
    this.#persons.set(chat, person);
    return chat;
  }

  addGroup(title: string): string {
    const name = title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
    return this.#double.addChannel(this.#double.guildId, name);
  }

  addThread(channel: string, name: string, from: string): string {
    return this.#double.thread({ channel, name, from });
  }

  setBot({ chat, kind }: { readonly chat: string; readonly kind: string }, isIn: boolean): void {
    const person = this.#persons.get(chat);
    if (kind === 'direct' && person !== undefined) this.#double.closeDms(person, !isIn);
    else this.#double.deny(chat, 'view', !isIn);
  }

  say({
    chat: channel,
    from,
    text,
    mention,
    replyTo,
    file,
  }: PlatformPersonMessage): string | undefined {
    const command = /^\/(\S+)\s*(.*)$/su.exec(text);
    const known = this.#commands().find(({ name }) => name === command?.[1]);
    if (known !== undefined && !mention) {
      const options = parseOptions(known, command?.[2] ?? '');
      const id = this.#double.slash({ channel, from, name: known.name, options });
      this.#interactions.push({ id, chat: channel, from });
      return undefined;
    }
    const parts = parsePartsLine(text);
    if (parts !== undefined) return this.#double.say({ channel, from, replyTo, ...parts }).id;
    return this.#double.say({
      ...{ channel, from, replyTo },
      text: mention ? `<@${this.#double.me.id}> ${text}` : text,
      files: file && [file],
    }).id;
  }

  edit(chat: string, message: string, _from: string, text: string): void {
    this.#double.reword(chat, message, text);
  }

  delete(chat: string, message: string): void {
    this.#double.erase(chat, message);
  }

  react({ chat: channel, message, from, emoji, gone }: PlatformReaction): void {
    this.#double.react({ channel, message, from, emoji, gone });
    const place = `${message} ${emoji}`;
    const known = this.#reactors.get(place) ?? new Set<string>();
    this.#reactors.set(place, known);
    if (gone) known.delete(from);
    else known.add(from);
  }

  press(channel: string, message: string, from: string, label: string): void {
    const shown = this.#all(channel).find(({ id }) => id === message);
    const found = listPressableComponents(shown?.message.components ?? []).find(
      (one) => one.label === label,
    );
    if (found === undefined) throw new Error(`There is no button "${label}".`);
    const { customId, values } = found;
    const id = this.#double.press({ channel, message, from, customId, values });
    this.#interactions.push({ id, chat: channel, from });
  }

  clearFaults(): void {
    this.#double.clearFaults();
  }

  messages(chat: string): PlatformMessage[] {
    return this.#all(chat).map((message) => this.#message(message));
  }

  isTyping(chat: string): boolean {
    const since = this.#clock.now() - TYPING_MS;
    const calls = this.#double.calls(`POST /channels/${chat}/`);
    const last = calls.at(-1);
    return last?.call.endsWith('/typing') === true && last.at > since;
  }

  commands() {
    return this.#commands().map(({ name, description }) => ({ name, description }));
  }

  calls() {
    return this.#double
      .calls()
      .slice(-SHOWN_CALLS)
      .map(({ at, call, outcome, code }) => ({
        ...{ at, call: shortenIds(call) },
        outcome: code === undefined ? String(outcome) : `${outcome} (${code})`,
        isTrouble: typeof outcome !== 'number' || outcome >= 400,
      }));
  }

  close(): Promise<void> {
    return this.#double.close();
  }

  #commands(): Command[] {
    const last = this.#double.calls('PUT /applications/').at(-1)?.body;
    return z.array(Command).safeParse(last).data ?? [];
  }

  /**
   * The channel's messages and ephemeral messages, sorted by id, because Discord's ids grow with
   * time.
   */
  #all(chat: string): (VisibleMessage & { readonly onlyFor?: string })[] {
    const here = this.#interactions.filter((one) => one.chat === chat);
    const alone = here.flatMap(({ id, from }) =>
      this.#double.interaction(id).ephemeral.map((message) => ({ ...message, onlyFor: from })),
    );
    // A press on an ephemeral answer adds the bot's response to the same list.
    const single = new Map(alone.map((message) => [message.id, message]));
    const all = [...this.#double.conversation(chat), ...single.values()];
    return all.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  }

  #message(shown: VisibleMessage & { readonly onlyFor?: string }): PlatformMessage {
    const { id, from, edited, attachments, message, replyTo, onlyFor } = shown;
    const { tree, violations } = parseDiscordMarkdown(getVisibleText(message));
    const name = (source: string) => this.#nameOf(source);
    const parts = describeSpecialParts(message);
    const isNotice = message.type === 18;
    return {
      ...{ id, from, at: Date.parse(message.timestamp), isEdited: edited, replyTo, onlyFor },
      text: [shown.visible.replaceAll(/<@!?\d+>/g, name), ...parts].filter(Boolean).join('\n'),
      html:
        renderDiscord(tree, name) + parts.map((part) => `<div>${escapeText(part)}</div>`).join(''),
      files: attachments.map(({ filename, content_type = 'application/octet-stream', url }) => ({
        ...{ name: filename, type: content_type },
        read: async () => new Uint8Array(await (await fetch(url)).arrayBuffer()),
      })),
      buttons: listPressableComponents(message.components).map(({ label }) => label),
      reactions: shown.reactions.flatMap(({ emoji, me }) => [
        ...(me ? [[emoji.name, 'bot'] as const] : []),
        ...[...(this.#reactors.get(`${id} ${emoji.name}`) ?? [])].map(
          (person) => [emoji.name, person] as const,
        ),
      ]),
      violations:
        from === 'bot' && !isNotice ? violations.map(({ kind, where }) => `${kind}: ${where}`) : [],
    };
  }

  /** Returns `<@1>` as the client shows it. */
  #nameOf(source: string): string {
    const id = /^<@!?(\d+)>$/.exec(source)?.[1];
    return id === undefined ? source : `@${this.#names.get(id) ?? id}`;
  }
}

interface PressableComponent {
  readonly label: string;
  readonly customId: string;
  readonly values?: readonly string[];
}

/** The buttons of a message and the options of its menus, which a player selects like buttons. */
function listPressableComponents(components: readonly Json[]): readonly PressableComponent[] {
  return listComponents(components).flatMap((component): readonly PressableComponent[] => {
    const { type, label, custom_id: customId, disabled } = component;
    if (typeof customId !== 'string' || disabled === true) return [];
    if (type === KIND.button) return [{ label: String(label), customId }];
    return getOptions(component).map((option) => {
      return { label: String(option.label), customId, values: [String(option.value)] };
    });
  });
}

/** Shortens ids to their last digits and removes interaction tokens, for display. */
function shortenIds(call: string): string {
  return call.replaceAll(/\/\d{14,}(?=\d{4})/g, '/…').replaceAll(/[\w-]{40,}/g, '…');
}

/** Parses `name=value` pairs; other text becomes the value of the first option. */
function parseOptions({ options }: Command, text: string): Record<string, string> {
  const named = [...text.matchAll(/(\S+?)=(\S+)/gu)].filter(([, name]) =>
    options.some((option) => option.name === name),
  );
  if (named.length > 0) return Object.fromEntries(named.map(([, name, value]) => [name, value]));
  const [first] = options;
  return text === '' || first === undefined ? {} : { [first.name]: text };
}

function createFaultActions(double: DiscordDouble): PlatformBackend['faults'] {
  const callIn = (chat: string | undefined) => ({
    call: 'POST /channels/',
    ...(chat !== undefined && { channel: chat }),
  });
  return {
    'rate-limit': ({ chat, seconds, times }) =>
      double.fault({
        ...{ kind: 'rate-limit', retryAfterMs: seconds * 1_000, times },
        ...callIn(chat),
      }),
    'server-error': ({ chat, times }) =>
      double.fault({ kind: 'status', status: 502, times: times * TRIES, ...callIn(chat) }),
    'reset-before': ({ chat, times }) => double.fault({ kind: 'hang-up', times, ...callIn(chat) }),
    'reset-after': ({ chat, times }) =>
      double.fault({ kind: 'hang-up', after: true, times, ...callIn(chat) }),
    hang: ({ chat, times }) => double.fault({ kind: 'hang', times, ...callIn(chat) }),
    duplicate: () => double.fault({ kind: 'duplicate', events: 1 }),
    silence: () => double.fault({ kind: 'silence' }),
    drop: () => double.fault({ kind: 'drop' }),
    'session-lost': () => double.fault({ kind: 'invalid-session', resumable: false }),
  };
}
