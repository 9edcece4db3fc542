import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { REAL_LIMITS } from './flood.ts';
import { startTelegramDouble } from './telegram-double.ts';

const PERSON = 1001;

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

Write here to talk to the bot as user ${PERSON} in a private chat. From another terminal:
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
    if (message.from === 'bot') console.log(`bot${place}: ${message.text}`);
  }
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (text) => {
  if (text.trim() !== '') double.say({ chat: PERSON, text });
});
double.transcript.onChange(showAnswers);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    lines.close();
    void double.close();
  });
}
