import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { z } from 'zod';
import { createControlHandler, waitForNewest } from '../answer-control.ts';
import { listButtons } from './components.ts';
import type { DiscordDouble } from './discord-double.ts';
import { Fault } from './faults.ts';
import { ComponentPress, FormSubmission, SlashCommandUse } from './interacting.ts';
import { MessageContentInput } from './message-parts.ts';
import { PARTS_HELP, parsePartsLine } from './parts-line.ts';
import { PersonReaction } from './people.ts';
import type { VisibleMessage } from './transcript.ts';

const Id = z.string();

/** The body of a control call that sends a person's message, with files in base64. */
const SayingBody = z.strictObject({
  channel: Id,
  from: Id.optional(),
  text: z.string().optional(),
  replyTo: Id.optional(),
  bot: z.boolean().optional(),
  webhook: z.string().optional(),
  embeds: z.array(z.record(z.string(), z.unknown())).optional(),
  parts: MessageContentInput.optional(),
  files: z
    .array(z.strictObject({ name: z.string(), base64: z.string(), type: z.string().optional() }))
    .optional(),
});

const PermissionBody = z.strictObject({
  channel: Id,
  permission: z.enum([
    'react',
    'view',
    'send',
    'manageMessages',
    'attach',
    'history',
    'pingEveryone',
    'manageThreads',
    'openThread',
    'sendInThread',
  ]),
  denied: z.boolean().optional(),
});

const RewordBody = z.strictObject({ channel: Id, message: Id, text: z.string() });
const EraseBody = z.strictObject({ channel: Id, message: Id });
const TypeBody = z.strictObject({ channel: Id, from: Id });
const ThreadBody = z.strictObject({
  channel: Id,
  name: z.string(),
  from: Id.optional(),
  message: Id.optional(),
  text: z.string().optional(),
});
const GuildBody = z.strictObject({ name: z.string(), joined: z.boolean().optional() });
const PrivateBody = z.strictObject({ people: z.array(Id).min(2), name: z.string().optional() });
const ChannelBody = z.strictObject({
  guild: Id,
  name: z.string(),
  kind: z.enum(['text', 'voice', 'forum', 'category']).optional(),
});
const DmsBody = z.strictObject({ user: Id, closed: z.boolean().optional() });

export const handleControl = createControlHandler<DiscordDouble>({
  'POST say': (double, body) => {
    const { files, ...saying } = SayingBody.parse(body);
    return double.say({
      ...saying,
      files: files?.map(({ base64, ...file }) => ({
        ...file,
        bytes: Buffer.from(base64, 'base64'),
      })),
    });
  },
  'POST reword': (double, body) => {
    const { channel, message, text } = RewordBody.parse(body);
    return double.reword(channel, message, text);
  },
  'POST erase': (double, body) => {
    const { channel, message } = EraseBody.parse(body);
    return double.erase(channel, message);
  },
  'POST react': (double, body) => double.react(PersonReaction.parse(body)),
  'POST type': (double, body) => {
    const { channel, from } = TypeBody.parse(body);
    return double.type(channel, from);
  },
  'POST thread': (double, body) => ({ channel: double.thread(ThreadBody.parse(body)) }),
  'POST slash': (double, body) => ({ interaction: double.slash(SlashCommandUse.parse(body)) }),
  'POST press': (double, body) => ({ interaction: double.press(ComponentPress.parse(body)) }),
  'POST submit': (double, body) => ({ interaction: double.submit(FormSubmission.parse(body)) }),
  'POST guild': (double, body) => {
    const { name, joined } = GuildBody.parse(body);
    return { guild: double.addGuild(name, joined) };
  },
  'POST private': (double, body) => {
    const { people, name } = PrivateBody.parse(body);
    return { channel: double.openPrivate(people, name) };
  },
  'POST channel': (double, body) => {
    const { guild, name, kind } = ChannelBody.parse(body);
    return { channel: double.addChannel(guild, name, kind) };
  },
  'POST permission': (double, body) => {
    const { channel, permission, denied } = PermissionBody.parse(body);
    return double.deny(channel, permission, denied);
  },
  'POST dms': (double, body) => {
    const { user, closed } = DmsBody.parse(body);
    return double.closeDms(user, closed);
  },
  'POST fault': (double, body) => double.fault(Fault.parse(body)),
  'POST clear-faults': (double) => double.clearFaults(),
  'GET dm': (double, _body, query) => ({ channel: double.dmWith(requireParameter(query, 'user')) }),
  'GET conversation': (double, _body, query) =>
    double.conversation(requireParameter(query, 'channel')),
  'GET interaction': (double, _body, query) => double.interaction(requireParameter(query, 'id')),
  'GET calls': (double, _body, query) => double.calls(query.get('start') ?? ''),
  'GET sends': (double, _body, query) =>
    waitForNewest(double, query, (after) => double.sends(after)),
  'GET status': (double) => ({
    ...double.gateway(),
    me: double.me.id,
    guild: double.guildId,
    channel: double.channelId,
  }),
});

function requireParameter(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw new Error(`?${name}= is missing`);
  return value;
}

/** The user id of the person at the keyboard. */
export const PERSON = '200000000000001001';

const TYPES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.ogg': 'audio/ogg',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
};

export const TYPED_HELP = `Write to talk to the bot; @bot mentions it, /name option=value is a slash command. Commands:
  !dm, !channel      switch the chat         !press LABEL     press this button on the newest message
  !thread NAME       open and enter a thread !edit TEXT       edit your last message
  !file PATH [WORDS] send a file             !delete          delete your last message
  !reply TEXT        reply to its last one   !react EMOJI     react to its last message
${PARTS_HELP}`;

/** A person at a keyboard and the channel they are writing in. */
export class TypingPerson {
  readonly #double: DiscordDouble;
  /** The id of a channel, thread or direct chat. */
  here: string;

  constructor(double: DiscordDouble) {
    this.#double = double;
    this.here = double.dmWith(PERSON);
  }

  /** Executes a typed line; throws an error with a readable reason. */
  runLine(line: string): void {
    if (line.trim() === '') return;
    const [, mark, name = '', rest = ''] = /^([!/])(\S+)\s*(.*)$/su.exec(line) ?? [];
    if (mark === '/') this.#slash(name, rest);
    else if (mark === '!') this.#act(name, rest);
    else this.#say(line);
  }

  #act(name: string, rest: string): unknown {
    const double = this.#double;
    const saying = parsePartsLine(`!${name} ${rest}`);
    if (saying !== undefined) return double.say({ channel: this.here, from: PERSON, ...saying });
    switch (name) {
      case 'dm':
        this.here = double.dmWith(PERSON);
        return this.here;
      case 'channel':
        this.here = double.channelId;
        return this.here;
      case 'thread':
        this.here = double.thread({ channel: double.channelId, name: rest, from: PERSON });
        return this.here;
      case 'file':
        return this.#sayFile(rest);
      case 'reply':
        return this.#say(rest, this.#last('bot').id);
      case 'press':
        return this.#press(rest);
      case 'edit':
        return double.reword(this.here, this.#last(PERSON).id, rest);
      case 'delete':
        return double.erase(this.here, this.#last(PERSON).id);
      case 'react': {
        const message = this.#last('bot').id;
        return double.react({ channel: this.here, message, from: PERSON, emoji: rest });
      }
      default:
        throw new Error(`Unknown command !${name}.\n${TYPED_HELP}`);
    }
  }

  #say(words: string, replyTo?: string): void {
    const text = words.replaceAll('@bot', `<@${this.#double.me.id}>`);
    this.#double.say({ channel: this.here, from: PERSON, text, replyTo });
  }

  #sayFile(rest: string): void {
    const [, path = '', text] = /^(\S+)\s*(.+)?$/su.exec(rest) ?? [];
    const bytes = new Uint8Array(readFileSync(path));
    const file = { name: basename(path), bytes, type: TYPES[extname(path).toLowerCase()] };
    this.#double.say({ channel: this.here, from: PERSON, text, files: [file] });
  }

  #slash(name: string, rest: string): void {
    const parts = rest.split(/\s+(?=\w+=)/u).filter((part) => part !== '');
    const options = Object.fromEntries(
      parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]),
    );
    this.#double.slash({ channel: this.here, from: PERSON, name, options });
  }

  #press(label: string): void {
    for (const { id, message } of this.#double.conversation(this.here).reverse()) {
      const button = listButtons(message.components).find((known) => known.label === label);
      if (typeof button?.custom_id !== 'string') continue;
      const press = { channel: this.here, from: PERSON, message: id };
      this.#double.press({ ...press, customId: button.custom_id });
      return;
    }
    throw new Error(`No message in this channel has a button "${label}".`);
  }

  #last(from: string): VisibleMessage {
    const found = this.#double.conversation(this.here).findLast((message) => message.from === from);
    if (found === undefined) throw new Error('There is no matching message in this channel yet.');
    return found;
  }
}
