import { z } from 'zod';
import { answersControl, newest } from '../answer-control.ts';
import { PermissionBody, SayingBody } from './control-bodies.ts';
import type { DiscordDouble } from './discord-double.ts';
import { Fault } from './faults.ts';
import { Reacting } from './people.ts';
import { Press, Slash } from './people-interactions.ts';

const Id = z.string();
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
const GuildBody = z.strictObject({ name: z.string() });
const ChannelBody = z.strictObject({
  guild: Id,
  name: z.string(),
  kind: z.enum(['text', 'forum', 'category']).optional(),
});
const DmsBody = z.strictObject({ user: Id, closed: z.boolean().optional() });

/** Answers `/control/<action>` with JSON. */
export const handleControl = answersControl<DiscordDouble>({
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
  'POST react': (double, body) => double.react(Reacting.parse(body)),
  'POST type': (double, body) => {
    const { channel, from } = TypeBody.parse(body);
    return double.type(channel, from);
  },
  'POST thread': (double, body) => ({ channel: double.thread(ThreadBody.parse(body)) }),
  'POST slash': (double, body) => ({ interaction: double.slash(Slash.parse(body)) }),
  'POST press': (double, body) => ({ interaction: double.press(Press.parse(body)) }),
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
  'POST fault': (double, body) => double.fault(Fault.parse(body)),
  'POST clear-faults': (double) => double.clearFaults(),
  'GET dm': (double, _body, query) => ({ channel: double.dmWith(wanted(query, 'user')) }),
  'GET conversation': (double, _body, query) => double.conversation(wanted(query, 'channel')),
  'GET interaction': (double, _body, query) => double.interaction(wanted(query, 'id')),
  'GET calls': (double, _body, query) => double.calls(query.get('start') ?? ''),
  'GET sends': (double, _body, query) => newest(double, query, (after) => double.sends(after)),
  'GET status': (double) => ({
    ...double.gateway(),
    me: double.me.id,
    guild: double.guildId,
    channel: double.channelId,
  }),
});

function wanted(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw new Error(`?${name}= is missing`);
  return value;
}
