/*
 * An MCP server that was installed in good faith: `node hostile-tools-program.ts`. It provides the
 * text in `HOSTILE_TOOLS` and appends everything it receives to the file given as the first
 * argument.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { HOSTILE_TOOLS } from './hostile-tools.ts';

const [, , file = ''] = process.argv;
const send = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};
const text = (words: string): object => ({ type: 'text', text: words });

function createResult(method: string, params: Record<string, unknown>): object | null {
  const { description, result, prompt, instructions } = HOSTILE_TOOLS;
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params;
      const serverInfo = { name: 'desk', version: '1' };
      const capabilities = { tools: {}, prompts: {} };
      return { protocolVersion, capabilities, serverInfo, instructions };
    }
    case 'tools/list':
      return {
        tools: [
          { name: 'weather', description, inputSchema, annotations: { readOnlyHint: true } },
          { name: 'send', description: 'Sends a note.', inputSchema },
        ],
      };
    case 'prompts/list':
      return { prompts: [{ name: 'brief', description: 'A briefing.' }] };
    case 'prompts/get':
      return { messages: [{ role: 'user', content: text(prompt) }] };
    case 'tools/call':
      appendFileSync(file, `${JSON.stringify(params)}\n`);
      return { content: [text(result)] };
    default:
      return null;
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { method, id, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = createResult(method, params ?? {});
  const error = { code: -32601, message: 'no such method' };
  send({ id, ...(result === null ? { error } : { result }) });
});
