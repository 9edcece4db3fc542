import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { startDiscordDouble } from './discord-double.ts';
import { REAL_LIMITS } from './rate-limits.ts';

const PERSON = '200000000000001001';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8082' },
    'real-limits': { type: 'boolean', default: false },
    guild: { type: 'boolean', default: false },
  },
});
const double = await startDiscordDouble({
  port: Number(values.port),
  ...(values['real-limits'] ? { limits: REAL_LIMITS } : {}),
});
const here = values.guild ? double.channelId : double.dmWith(PERSON);

const control = `${new URL(double.apiRoot).origin}/control`;
const json = "-H 'content-type: application/json' -d";
console.log(`Discord double.
  api      ${double.apiRoot}
  token    ${double.token}
  bot      ${double.me.id}
  guild    ${double.guildId}
  channel  ${double.channelId}

Write here to talk to the bot as user ${PERSON} ${values.guild ? 'in the channel' : 'in direct messages'}; a line
that begins with / is a slash command, with option=value after it. From another terminal:
  curl ${control}/say ${json} '{"channel":"${double.channelId}","from":"200000000000000007","text":"hello <@${double.me.id}>"}'
  curl '${control}/conversation?channel=${double.channelId}'
  curl '${control}/sends?after=0&wait=5000'
  curl ${control}/fault ${json} '{"kind":"hang-up","after":true}'
  curl ${control}/fault ${json} '{"kind":"invalid-session","resumable":false}'
`);

let shown = 0;
function showAnswers(): void {
  for (const { seq, kind, route, visible, attachments } of double.sends(shown)) {
    shown = seq;
    const place = route.threadId ?? route.channelId;
    const where = place === here ? '' : ` in ${place}`;
    const files = attachments.map(({ url }) => `\n  ${url}`).join('');
    console.log(`bot${where}${kind === 'edit' ? ' (edited)' : ''}: ${visible}${files}`);
  }
}

/** A line as the person means it: text, or a slash command with its options. */
function perform(line: string): void {
  if (line.trim() === '') return;
  if (!line.startsWith('/')) {
    double.say({ channel: here, from: PERSON, text: line });
    return;
  }
  const [name = '', ...rest] = line.slice(1).split(' ');
  const options = Object.fromEntries(
    rest.map((part) => [part.split('=')[0] ?? '', part.slice(part.indexOf('=') + 1)]),
  );
  double.slash({ channel: here, from: PERSON, name, options });
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  try {
    perform(line);
  } catch (error) {
    console.log(error instanceof Error ? error.message : String(error));
  }
});
double.transcript.onChange(showAnswers);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    lines.close();
    void double.close();
  });
}
