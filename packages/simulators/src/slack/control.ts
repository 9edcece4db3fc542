import { z } from 'zod';
import { createControlHandler, waitForNewest } from '../answer-control.ts';
import { Fault } from './faults.ts';
import type { SlackDouble } from './slack-double.ts';
import type { VisibleMessage } from './visible.ts';

const bytes = z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64')));
const file = z.strictObject({ name: z.string(), type: z.string().optional(), bytes });
const message = { channel: z.string(), ts: z.string() };
const SayingBody = z.strictObject({
  channel: z.string(),
  from: z.string().optional(),
  text: z.string().optional(),
  threadTs: z.string().optional(),
  files: z.array(file).optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
});
const RewordBody = z.strictObject({ ...message, text: z.string() });
const MessageBody = z.strictObject(message);
const ReactionBody = z.strictObject({
  ...message,
  name: z.string(),
  from: z.string().optional(),
  gone: z.boolean().optional(),
});
const PressBody = z.strictObject({ ...message, label: z.string(), from: z.string().optional() });
const SlashBody = z.strictObject({
  channel: z.string(),
  command: z.string(),
  text: z.string().optional(),
  from: z.string().optional(),
});
const MemberBody = z.strictObject({
  name: z.string(),
  teamId: z.string().optional(),
  isBot: z.boolean().optional(),
  isGuest: z.boolean().optional(),
  isAdmin: z.boolean().optional(),
});
const ChannelBody = z.strictObject({
  name: z.string(),
  kind: z.enum(['public', 'private', 'group-dm', 'dm']).default('public'),
  members: z.array(z.string()).default([]),
});
const UrlBody = z.strictObject({ url: z.string().optional() });
const LeaveBody = z.strictObject({
  reason: z.enum(['warning', 'refresh_requested', 'link_disabled']).default('refresh_requested'),
});

export const handleControl = createControlHandler<SlackDouble>({
  'POST say': (double, body) => double.say(SayingBody.parse(body)),
  'POST reword': (double, body) => {
    const { channel, ts, text } = RewordBody.parse(body);
    return double.reword(channel, ts, text);
  },
  'POST erase': (double, body) => {
    const { channel, ts } = MessageBody.parse(body);
    return double.erase(channel, ts);
  },
  'POST react': (double, body) => double.react(ReactionBody.parse(body)),
  'POST press': (double, body) => ({ interaction: double.press(PressBody.parse(body)) }),
  'POST slash': (double, body) => ({ interaction: double.slash(SlashBody.parse(body)) }),
  'POST member': (double, body) => ({ id: double.addMember(MemberBody.parse(body)) }),
  'POST channel': (double, body) => ({ id: double.addChannel(ChannelBody.parse(body)) }),
  'POST request-url': (double, body) => double.setRequestUrl(UrlBody.parse(body).url),
  'POST fault': (double, body) => double.fault(Fault.parse(body)),
  'POST clear-faults': (double) => double.clearFaults(),
  'POST ask-to-leave': (double, body) => double.askToLeave(LeaveBody.parse(body).reason),
  'POST drop-connections': (double) => double.dropConnections(),
  'GET direct': (double, _body, query) => ({ channel: double.directChat(query.get('user') ?? '') }),
  'GET conversation': (double, _body, query) => double.conversation(query.get('channel') ?? ''),
  'GET calls': (double, _body, query) => double.calls(query.get('method') ?? undefined),
  'GET deliveries': (double, _body, query) => double.deliveries(query.get('what') ?? undefined),
  'GET answers': (double, _body, query) => {
    const channel = query.get('channel') ?? '';
    return waitForNewest(double, query, (after) => listMessagesAfter(double, channel, after));
  },
});

function listMessagesAfter(double: SlackDouble, channel: string, after: number): VisibleMessage[] {
  return double.conversation(channel).filter(({ from, seq }) => from === 'bot' && seq > after);
}
