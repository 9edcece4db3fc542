import { parseArgs } from 'node:util';
import { startModelDouble } from './model-double.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8090' },
    latency: { type: 'string', default: '0' },
    piece: { type: 'string', default: '0' },
  },
});
const double = await startModelDouble({
  port: Number(values.port),
  latencyMs: Number(values.latency),
  pieceMs: Number(values.piece),
});

const control = `${new URL(double.baseUrl).origin}/control`;
console.log(`Model double.
  baseUrl  ${double.baseUrl}
  model    ${double.models.join(', ')}

It answers "You said: …". From another terminal:
  curl ${control}/queue -d '{"replies":["**Hello** from the queue"]}'
  curl ${control}/fault -d '{"fault":{"kind":"status","status":503},"times":"forever"}'
  curl ${control}/clear-faults -X POST
  curl ${control}/pace -d '{"latencyMs":200,"pieceMs":50}'
  curl '${control}/requests?after=0'
  curl ${control}/status
`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void double.close());
}
