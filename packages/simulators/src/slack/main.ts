import { parseArgs } from 'node:util';
import { runInTerminal } from '../typed-lines.ts';
import { REAL_LIMITS } from './rate-limits.ts';
import { startSlackDouble } from './start-slack-double.ts';
import { runTypedCommand, TYPED_HELP } from './typed-commands.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8083' },
    url: { type: 'string' },
    'real-limits': { type: 'boolean', default: false },
  },
});
const double = await startSlackDouble({
  port: Number(values.port),
  ...(values['real-limits'] ? { limits: REAL_LIMITS } : {}),
});
const you = double.addMember({ name: 'You', isAdmin: true });
const places = {
  you,
  direct: double.directChat(you),
  channel: double.addChannel({ name: 'general', members: [you] }),
};
if (values.url !== undefined) await double.setRequestUrl(values.url);

const control = `${new URL(double.apiUrl).origin}/control`;
console.log(`Slack double.
  apiUrl         ${double.apiUrl}
  botToken       ${double.botToken}
  appToken       ${double.appToken} (Socket Mode, unless you gave --url)
  signingSecret  ${double.signingSecret}

${TYPED_HELP}

You are ${you}. From another terminal:
  curl ${control}/say -d '{"channel":"${places.channel}","text":"hello <@${double.me.id}>"}'
  curl '${control}/conversation?channel=${places.direct}'
  curl '${control}/answers?channel=${places.direct}&after=0&wait=5000'
  curl ${control}/fault -d '{"kind":"reset","method":"chat.postMessage","after":true}'
  curl ${control}/ask-to-leave -d '{"reason":"refresh_requested"}'
`);

let shown = 0;
function showAnswers(): void {
  const all = [places.direct, places.channel].flatMap((id) => double.conversation(id));
  for (const message of all.filter(({ seq }) => seq > shown).sort((a, b) => a.seq - b.seq)) {
    shown = message.seq;
    if (message.from !== 'bot') continue;
    const place = message.channel === places.channel ? ' in #general' : '';
    const files = message.files.map(({ name }) => ` <${name}>`).join('');
    const buttons = message.buttons.map((label) => ` [${label}]`).join('');
    console.log(`bot${place}:${files} ${message.text}${buttons}`);
  }
}

runInTerminal(double, (line) => runTypedCommand(double, places, line), showAnswers);
