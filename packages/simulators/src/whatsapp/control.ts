import { proto } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { createControlHandler, waitForNewest } from '../answer-control.ts';
import { Fault } from './faults.ts';
import { GroupChange, GroupOptions } from './group-acts.ts';
import { PersonOptions } from './people.ts';
import type { RecordedSend, VisibleMessage } from './transcript.ts';
import type { WhatsAppDouble } from './whatsapp-double.ts';

const place = { chat: z.string(), from: z.string().optional() };
const draft = {
  text: z.string(),
  quote: z.string().optional(),
  mentions: z.array(z.string()).optional(),
};
const FileBody = z.strictObject({
  ...place,
  kind: z.enum(['image', 'video', 'audio', 'document', 'sticker']),
  content: z.base64().transform((text) => Buffer.from(text, 'base64')),
  mimetype: z.string(),
  caption: z.string().optional(),
  fileName: z.string().optional(),
  voice: z.boolean().optional(),
  viewOnce: z.boolean().optional(),
  seconds: z.number().optional(),
  album: z.string().optional(),
});
/** A message with any content, in the library's JSON format, with bytes in base64. */
const MessageBody = z.strictObject({
  ...place,
  id: z.string().optional(),
  message: z.record(z.string(), z.unknown()),
});
const TimerBody = z.strictObject({ ...place, seconds: z.number() });
const WithheldBody = z.strictObject({ ...place, type: z.string().default('view_once') });
const CallBody = z.strictObject({ ...place, video: z.boolean().default(false) });
const SayBody = z.strictObject({ ...place, ...draft });
const RewordBody = z.strictObject({ ...place, ...draft, id: z.string() });
const OfMessageBody = z.strictObject({ ...place, id: z.string() });
const ReactBody = z.strictObject({ ...place, id: z.string(), emoji: z.string() });
const PlaceBody = z.strictObject(place);
const TypingBody = z.strictObject({
  ...place,
  state: z.enum(['composing', 'recording', 'paused']).default('composing'),
});

export const handleControl = createControlHandler<WhatsAppDouble>({
  'POST person': (double, body) => {
    const { id, pn, lid, name } = double.addPerson(PersonOptions.parse(body));
    return { id, pn, lid, name };
  },
  'POST group': (double, body) => ({ jid: double.addGroup(GroupOptions.parse(body)).jid }),
  'POST change-group': (double, body, query) => {
    double.changeGroup(query.get('group') ?? '', GroupChange.parse(body));
  },
  'POST scan': (double, body) => double.scan(z.strictObject({ qr: z.string() }).parse(body).qr),
  'POST type-code': (double, body) =>
    double.typeCode(z.strictObject({ code: z.string() }).parse(body).code),
  'POST say': async (double, body) => ({ id: await double.say(SayBody.parse(body)) }),
  'POST file': async (double, body) => ({ id: await double.acts.sendFile(FileBody.parse(body)) }),
  'POST message': async (double, body) => {
    const { message, ...where } = MessageBody.parse(body);
    return { id: await double.acts.post(where, proto.Message.fromObject(message)) };
  },
  'POST timer': async (double, body) => ({ id: await double.acts.setTimer(TimerBody.parse(body)) }),
  'POST withhold': (double, body) => {
    const { type, ...where } = WithheldBody.parse(body);
    return { id: double.acts.withhold(where, type) };
  },
  'POST call': (double, body) => {
    const { video, ...where } = CallBody.parse(body);
    double.acts.call(where, video);
  },
  'POST reword': async (double, body) => ({ id: await double.acts.reword(RewordBody.parse(body)) }),
  'POST take-back': async (double, body) => ({
    id: await double.acts.takeBack(OfMessageBody.parse(body)),
  }),
  'POST react': async (double, body) => ({ id: await double.acts.react(ReactBody.parse(body)) }),
  'POST read': (double, body) => double.acts.read(PlaceBody.parse(body)),
  'POST typing': (double, body) => {
    const { state, ...where } = TypingBody.parse(body);
    double.acts.type(where, state);
  },
  'POST fault': (double, body) => double.fault(Fault.parse(body)),
  'POST clear-faults': (double) => double.clearFaults(),
  'POST kick': (double, body) => double.kick(z.strictObject({ code: z.number() }).parse(body).code),
  'POST drop': (double) => double.drop(),
  'POST silence': (double, body) =>
    double.silence(z.strictObject({ on: z.boolean() }).parse(body).on),
  'GET conversation': (double, _body, query) =>
    double.conversation(query.get('chat') ?? '').map(toPlainMessage),
  'GET sends': (double) => double.sends().map(toSendSummary),
  'GET answers': async (double, _body, query) =>
    (await waitForNewest(double, query, (after) => listMessagesAfter(double, after))).map(
      toPlainMessage,
    ),
  'GET status': (double) => ({
    state: double.state(),
    me: { pn: double.me.pn, lid: double.me.lid },
    waiting: double.waiting().length,
    problems: double.transcript.problems.map(String),
  }),
});

function listMessagesAfter({ transcript }: WhatsAppDouble, after: number): VisibleMessage[] {
  return transcript.after(after).filter(({ from }) => from === 'bot');
}

function toPlainMessage({ formatted, reactions, readBy, attachment, ...message }: VisibleMessage) {
  const { kind, mimetype, fileName, voice, seconds } = attachment ?? {};
  return {
    ...message,
    visible: formatted.visible,
    reactions: Object.fromEntries(reactions),
    readBy: [...readBy],
    ...(attachment === undefined
      ? {}
      : { attachment: { kind, mimetype, fileName, voice, seconds } }),
  };
}

/** The response omits the content, because the conversation already shows it. */
function toSendSummary({
  message: _content,
  ...send
}: RecordedSend): Omit<RecordedSend, 'message'> {
  return send;
}
