import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { FaultBody, PermissionBody, SayingBody } from './control-bodies.ts';
import type { DiscordDouble } from './discord-double.ts';
import { readBody } from './read-body.ts';

const Id = z.string();
const RewordBody = z.strictObject({ channel: Id, message: Id, text: z.string() });
const EraseBody = z.strictObject({ channel: Id, message: Id });
const ReactBody = z.strictObject({
  channel: Id,
  message: Id,
  from: Id,
  emoji: z.string(),
  gone: z.boolean().optional(),
});
const TypeBody = z.strictObject({ channel: Id, from: Id });
const ThreadBody = z.strictObject({
  channel: Id,
  name: z.string(),
  from: Id.optional(),
  message: Id.optional(),
  text: z.string().optional(),
});
const SlashBody = z.strictObject({
  channel: Id,
  from: Id.optional(),
  name: z.string(),
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});
const PressBody = z.strictObject({
  channel: Id,
  from: Id.optional(),
  message: Id,
  customId: z.string(),
  values: z.array(z.string()).optional(),
});
const GuildBody = z.strictObject({ name: z.string() });
const ChannelBody = z.strictObject({
  guild: Id,
  name: z.string(),
  kind: z.enum(['text', 'forum', 'category']).optional(),
});
const DmsBody = z.strictObject({ user: Id, closed: z.boolean().optional() });

const LONGEST_WAIT_MS = 60_000;

type Action = (double: DiscordDouble, body: unknown, query: URLSearchParams) => unknown;

const ACTIONS: Readonly<Record<string, Action>> = {
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
  'POST react': (double, body) => double.react(ReactBody.parse(body)),
  'POST type': (double, body) => {
    const { channel, from } = TypeBody.parse(body);
    return double.type(channel, from);
  },
  'POST thread': (double, body) => ({ channel: double.thread(ThreadBody.parse(body)) }),
  'POST slash': (double, body) => ({ interaction: double.slash(SlashBody.parse(body)) }),
  'POST press': (double, body) => ({ interaction: double.press(PressBody.parse(body)) }),
  'POST guild': (double, body) => ({ guild: double.addGuild(GuildBody.parse(body).name) }),
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
  'POST fault': (double, body) => double.fault(FaultBody.parse(body)),
  'POST clear-faults': (double) => double.clearFaults(),
  'GET dm': (double, _body, query) => ({ channel: double.dmWith(wanted(query, 'user')) }),
  'GET conversation': (double, _body, query) => double.conversation(wanted(query, 'channel')),
  'GET interaction': (double, _body, query) => double.interaction(wanted(query, 'id')),
  'GET calls': (double, _body, query) => double.calls(query.get('start') ?? ''),
  'GET sends': waitForSends,
  'GET status': (double) => ({
    ...double.gateway(),
    me: double.me.id,
    guild: double.guildId,
    channel: double.channelId,
  }),
};

/** Answers `/control/<action>` with JSON: 404 for an unknown action, 400 for a body it cannot use. */
export async function handleControl(
  double: DiscordDouble,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const action = ACTIONS[`${request.method} ${url.pathname.slice('/control/'.length)}`];
  if (action === undefined) {
    reply(response, 404, { error: `Known: ${Object.keys(ACTIONS).join(', ')}` });
    return;
  }
  try {
    const { body } = await readBody(request);
    reply(response, 200, await action(double, body ?? {}, url.searchParams));
  } catch (error) {
    reply(response, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}

/** What the bot sent after `after` (a `seq`), waiting up to `wait` ms until there is something. */
function waitForSends(double: DiscordDouble, _body: unknown, query: URLSearchParams): unknown {
  const after = Number(query.get('after') ?? 0);
  const waitMs = Math.min(Number(query.get('wait') ?? 0), LONGEST_WAIT_MS);
  const sent = () => double.sends(after);
  return double.waitFor(() => sent().length > 0 && sent(), waitMs).catch(sent);
}

function wanted(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw new Error(`?${name}= is missing`);
  return value;
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body ?? { done: true });
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
