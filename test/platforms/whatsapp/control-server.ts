import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { RecordedSend, VisibleMessage } from './transcript.ts';
import type { WhatsAppDouble } from './whatsapp-double.ts';

const place = { chat: z.string(), from: z.string().optional() };
const draft = {
  text: z.string(),
  quote: z.string().optional(),
  mentions: z.array(z.string()).optional(),
};
const aim = {
  chat: z.string().optional(),
  times: z.number().optional(),
  skip: z.number().optional(),
};
const lost = z.boolean().optional();
const who = z.array(z.string());
const by = z.string().optional();

const PersonBody = z.strictObject({
  name: z.string().optional(),
  number: z.string().optional(),
  lid: z.string().optional(),
  addressing: z.enum(['pn', 'lid']).optional(),
  hidden: z.boolean().optional(),
});
const GroupBody = z.strictObject({
  subject: z.string(),
  members: z.array(z.string()),
  announce: z.boolean().optional(),
  ephemeral: z.number().optional(),
});
const ChangeBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['add', 'remove', 'promote', 'demote']), who, by }),
  z.strictObject({ kind: z.literal('subject'), subject: z.string(), by }),
  z.strictObject({ kind: z.literal('announce'), on: z.boolean(), by }),
]);
const FileBody = z.strictObject({
  ...place,
  kind: z.enum(['image', 'video', 'audio', 'document', 'sticker']),
  content: z.base64().transform((text) => Buffer.from(text, 'base64')),
  mimetype: z.string(),
  caption: z.string().optional(),
  fileName: z.string().optional(),
  voice: z.boolean().optional(),
  seconds: z.number().optional(),
  album: z.string().optional(),
});
const FaultBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('no-greeting'), ...aim }),
  z.strictObject({ kind: z.literal('failure'), reason: z.number(), ...aim }),
  z.strictObject({ kind: z.literal('refuse'), code: z.number(), ...aim }),
  z.strictObject({ kind: z.literal('no-ack'), lost, ...aim }),
  z.strictObject({ kind: z.literal('late-ack'), ms: z.number(), ...aim }),
  z.strictObject({ kind: z.literal('drop'), lost, ...aim }),
  z.strictObject({ kind: z.enum(['twice', 'cut', 'drop-after', 'garble']), ...aim }),
  z.strictObject({ kind: z.literal('query-error'), xmlns: z.string(), code: z.number(), ...aim }),
  z.strictObject({ kind: z.literal('query-silence'), xmlns: z.string(), ...aim }),
]);
const SayBody = z.strictObject({ ...place, ...draft });
const RewordBody = z.strictObject({ ...place, ...draft, id: z.string() });
const OfMessageBody = z.strictObject({ ...place, id: z.string() });
const ReactBody = z.strictObject({ ...place, id: z.string(), emoji: z.string() });
const PlaceBody = z.strictObject(place);
const TypingBody = z.strictObject({
  ...place,
  state: z.enum(['composing', 'recording', 'paused']).default('composing'),
});
const LONGEST_WAIT_MS = 60_000;

type Action = (double: WhatsAppDouble, body: unknown, query: URLSearchParams) => unknown;

const ACTIONS: Readonly<Record<string, Action>> = {
  'POST person': (double, body) => {
    const { id, pn, lid, name } = double.addPerson(PersonBody.parse(body));
    return { id, pn, lid, name };
  },
  'POST group': (double, body) => ({ jid: double.addGroup(GroupBody.parse(body)).jid }),
  'POST change-group': (double, body, query) => {
    double.changeGroup(query.get('group') ?? '', ChangeBody.parse(body));
  },
  'POST scan': (double, body) => double.scan(z.strictObject({ qr: z.string() }).parse(body).qr),
  'POST say': async (double, body) => ({ id: await double.say(SayBody.parse(body)) }),
  'POST file': async (double, body) => ({ id: await double.acts.sendFile(FileBody.parse(body)) }),
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
  'POST fault': (double, body) => double.fault(FaultBody.parse(body)),
  'POST clear-faults': (double) => double.clearFaults(),
  'POST kick': (double, body) => double.kick(z.strictObject({ code: z.number() }).parse(body).code),
  'POST drop': (double) => double.drop(),
  'POST silence': (double, body) =>
    double.silence(z.strictObject({ on: z.boolean() }).parse(body).on),
  'GET conversation': (double, _body, query) =>
    double.conversation(query.get('chat') ?? '').map(plainMessage),
  'GET sends': (double) => double.sends().map(plainSend),
  'GET answers': waitForAnswers,
  'GET status': (double) => ({
    state: double.state(),
    me: { pn: double.me.pn, lid: double.me.lid },
    waiting: double.waiting().length,
    problems: double.transcript.problems.map(String),
  }),
};

/** Answers `/control/<action>` with JSON: 404 for an unknown action, 400 for a body it cannot use. */
export async function handleControl(
  double: WhatsAppDouble,
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
    const text = Buffer.concat(await request.toArray()).toString();
    const body: unknown = text === '' ? {} : JSON.parse(text);
    reply(response, 200, await action(double, body, url.searchParams));
  } catch (error) {
    reply(response, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}

/** What the bot wrote after `after` (a `seq`), waiting up to `wait` ms until there is something. */
async function waitForAnswers(
  double: WhatsAppDouble,
  _body: unknown,
  query: URLSearchParams,
): Promise<unknown> {
  const after = Number(query.get('after') ?? 0);
  const waitMs = Math.min(Number(query.get('wait') ?? 0), LONGEST_WAIT_MS);
  const written = () => double.transcript.after(after).filter(({ from }) => from === 'bot');
  const answers = await double
    .waitFor(() => written().length > 0 && written(), waitMs)
    .catch(written);
  return answers.map(plainMessage);
}

function plainMessage({ formatted, reactions, readBy, attachment, ...message }: VisibleMessage) {
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

/** Without the content, which the conversation shows. */
function plainSend({ message: _content, ...send }: RecordedSend): Omit<RecordedSend, 'message'> {
  return send;
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body ?? { done: true });
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
