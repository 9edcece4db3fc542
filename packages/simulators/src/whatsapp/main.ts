import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { runInTerminal } from '../typed-lines.ts';
import { silenceLibsignal } from './quiet.ts';
import { startWhatsAppDouble } from './start-whatsapp-double.ts';

const Status = z.object({
  channels: z.array(z.object({ state: z.looseObject({ code: z.string().optional() }) })),
});

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8083' },
    ca: { type: 'string' },
  },
});
silenceLibsignal();
const double = await startWhatsAppDouble({ port: Number(values.port) });
const ann = double.addPerson({ name: 'Ann' });
const bob = double.addPerson({ name: 'Bob' });
const group = double.addGroup({ subject: 'Friends', members: [ann.id, bob.id, double.me.id] });
if (values.ca !== undefined) writeFileSync(values.ca, double.media.certificate);

console.log(`WhatsApp double.
  waWebSocketUrl             ${double.url}
  WA_CERT_DETAILS.PUBLIC_KEY ${double.rootKey.toString('hex')}
  media host                 https://${double.media.address}${values.ca === undefined ? ' (--ca FILE writes its certificate)' : `, NODE_EXTRA_CA_CERTS=${values.ca}`}
  the bot's account          ${double.me.id}
  Ann                        ${ann.id}
  group "Friends"            ${group.jid}

When a client shows a code, paste its text here, or the URL of the page that Parley prints.
After that, type to talk to the bot as Ann; "#" writes in the group, "#@" also mentions the bot:
  hello
  # hello all
  #@ hello you
From another terminal:
  curl ${double.controlUrl}/scan -d '{"qr":"https://wa.me/settings/linked_devices#…"}'
  curl ${double.controlUrl}/say -d '{"chat":"${group.jid}","from":"${bob.id}","text":"hello","mentions":["${double.me.id}"]}'
  curl '${double.controlUrl}/conversation?chat=${ann.id}'
  curl '${double.controlUrl}/answers?after=0&wait=5000'
  curl ${double.controlUrl}/fault -d '{"kind":"refuse","code":463}'
  curl ${double.controlUrl}/kick -d '{"code":515}'
`);

let shown = 0;
let state = double.state();

function printNewMessages(): void {
  if (double.state() !== state) {
    state = double.state();
    if (state === 'pairing')
      console.log('A client shows a code. Paste its text or the URL of its page here.');
    else console.log(state === 'open' ? 'The client is connected.' : 'No client is connected.');
  }
  for (const message of double.transcript.after(shown)) {
    shown = message.seq;
    const place = message.chat === ann.id ? '' : ` in ${message.chat}`;
    const file = message.attachment === undefined ? '' : ` [${message.attachment.kind}]`;
    if (message.from === 'bot') console.log(`bot${place}:${file} ${message.text}`);
  }
}

async function handleLine(line: string): Promise<void> {
  const text = line.trim();
  if (text === '') return;
  if (state === 'pairing') await linkClient(await resolveCode(text));
  else if (!text.startsWith('#')) await double.say({ chat: ann.id, text });
  else {
    const mentions = text.startsWith('#@') ? [double.me.id] : [];
    const words = text.replace(/^#@?\s*/, '');
    await double.say({ chat: group.jid, from: ann.id, text: words, mentions });
  }
}

/** A typed code has eight characters; any other text is a QR code. */
async function linkClient(code: string): Promise<void> {
  if (/^[a-z\d]{4}-?[a-z\d]{4}$/i.test(code)) await double.typeCode(code);
  else double.scan(code);
}

/**
 * Returns the text of a code: either the pasted text, or the code shown by the Parley process whose
 * page address (as printed by `parley start`) was pasted.
 * @throws Error if that Parley process does not show a code
 */
async function resolveCode(pasted: string): Promise<string> {
  const page = URL.canParse(pasted) ? new URL(pasted) : undefined;
  const token = page?.searchParams.get('token');
  if (page === undefined || !token) return pasted;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(new URL('/api/status/report', page).href, { headers });
  const { channels } = Status.parse(await answer.json());
  const code = channels.map(({ state }) => state.code).find((found) => found !== undefined);
  if (code === undefined) throw new Error('This Parley page does not show a code to scan');
  return code;
}

runInTerminal(double, handleLine, printNewMessages);
