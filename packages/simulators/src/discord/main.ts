import { parseArgs } from 'node:util';
import { runInTerminal } from '../typed-lines.ts';
import { listButtons } from './components.ts';
import { PERSON, TYPED_HELP, TypingPerson } from './control.ts';
import { REAL_LIMITS } from './rate-limits.ts';
import { startDiscordDouble } from './start-discord-double.ts';

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
const typist = new TypingPerson(double);
if (values.guild) typist.runLine('!channel');

const control = `${new URL(double.apiRoot).origin}/control`;
const json = "-H 'content-type: application/json' -d";
console.log(`Discord double.
  api      ${double.apiRoot}
  token    ${double.token}
  bot      ${double.me.id}
  guild    ${double.guildId}
  channel  ${double.channelId}

You are user ${PERSON}, ${values.guild ? 'in the channel' : 'in direct messages'}. ${TYPED_HELP}

From another terminal:
  curl ${control}/say ${json} '{"channel":"${double.channelId}","from":"200000000000000007","text":"hello <@${double.me.id}>"}'
  curl '${control}/conversation?channel=${double.channelId}'
  curl '${control}/sends?after=0&wait=5000'
  curl ${control}/fault ${json} '{"kind":"hang-up","after":true}'
  curl ${control}/fault ${json} '{"kind":"invalid-session","resumable":false}'
`);

let shown = 0;
function showAnswers(): void {
  for (const { seq, kind, route, visible, attachments, message } of double.sends(shown)) {
    shown = seq;
    const place = route.threadId ?? route.channelId;
    const where = place === typist.here ? '' : ` in ${place}`;
    const files = attachments.map(({ url }) => `\n  ${url}`).join('');
    const buttons = listButtons(message.components)
      .map(({ label }) => ` [${label}]`)
      .join('');
    const alone = route.ephemeral ? ' (only you see this)' : '';
    const edited = kind === 'edit' ? ' (edited)' : '';
    console.log(`bot${where}${edited}${alone}: ${visible}${buttons}${files}`);
  }
}

runInTerminal(double, (line) => typist.runLine(line), showAnswers);
