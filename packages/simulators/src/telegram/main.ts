import { parseArgs } from 'node:util';
import { runInTerminal } from '../typed-lines.ts';
import { PLACES, runTypedCommand, TYPED_HELP } from './control.ts';
import { REAL_LIMITS } from './faults.ts';
import { startTelegramDouble } from './start-telegram-double.ts';

const PERSON = PLACES.person;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8081' },
    token: { type: 'string' },
    'real-limits': { type: 'boolean', default: false },
  },
});
const double = await startTelegramDouble({
  port: Number(values.port),
  ...(values.token === undefined ? {} : { botToken: values.token }),
  ...(values['real-limits'] ? { limits: REAL_LIMITS } : {}),
});

const control = `${new URL(double.apiRoot).origin}/control`;
console.log(`Telegram double.
  apiRoot  ${double.apiRoot}
  token    ${double.token}

${TYPED_HELP}

You are user ${PERSON}. From another terminal:
  curl ${control}/say -H 'content-type: application/json' -d '{"chat":-5,"from":7,"text":"hello @${double.me.username}"}'
  curl '${control}/conversation?chat=${PERSON}'
  curl '${control}/answers?after=0&wait=5000'
  curl ${control}/fault -H 'content-type: application/json' -d '{"kind":"reset","method":"sendMessage","after":true}'
  curl ${control}/migrate -H 'content-type: application/json' -d '{"chat":-5}'
  curl ${control}/access -H 'content-type: application/json' -d '{"chat":${PERSON},"access":"blocked"}'
`);

let shown = 0;
function showAnswers(): void {
  for (const message of double.transcript.after(shown)) {
    shown = message.seq;
    const place = message.chatId === PERSON ? '' : ` in ${message.chatId}`;
    const file = message.file ? ` <${message.file.name}>` : '';
    const buttons = message.buttons ? ` [${message.buttons.join('] [')}]` : '';
    if (message.from === 'bot') console.log(`bot${place}:${file} ${message.text}${buttons}`);
  }
}

runInTerminal(double, (line) => runTypedCommand(double, line), showAnswers);
