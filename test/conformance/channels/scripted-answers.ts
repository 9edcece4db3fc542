/** Commands for the conformance tests' model, in the last line of a question. */
const WISHES = /\bwish:(\w+)(?::(\d+))?/;

interface ToolCall {
  readonly name: string;
  readonly arguments: object;
}

/** The model repeats the question, or follows the command in it. */
export function createScriptedAnswer(question: string): string | { toolCalls: ToolCall[] } {
  const line = question.split('\n').at(-1) ?? '';
  const [, wish, size = '0'] = WISHES.exec(line) ?? [];
  const said = `You said: ${line}`;
  switch (wish) {
    case 'long':
      return `${said}\n\n${createWords(Number(size))}`;
    case 'code':
      return `${said}\n\n\`\`\`js\n${createCodeLines(Number(size))}\n\`\`\`\n\nbehind the code`;
    case 'rich':
      return `${said}\n\n# Heading\n\n**bold** *italic* \`code\` ~~gone~~\n\n- one\n- two\n\n> quoted\n\n[link](https://example.org/)`;
    case 'table':
      return `${said}\n\n| name | size |\n|---|---|\n| ant | 1 |\n| bee | 22 |`;
    case 'clock':
      return { toolCalls: [{ name: 'current_time', arguments: {} }] };
    case 'reword':
      return {
        toolCalls: [
          { name: 'edit_message', arguments: { message: 1, text: 'The weather is fine.' } },
        ],
      };
    case 'choice': {
      const choices = Number(size) === 0 ? ['red', 'green'] : shades(Number(size));
      return {
        toolCalls: [{ name: 'ask_user', arguments: { question: 'Which colour?', choices } }],
      };
    }
    case 'ping':
      return `${said} @everyone @here`;
    case 'empty':
      return ' ';
    case 'lines':
      return `${said}\n\n${Array.from({ length: Number(size) }, (_, index) => `line ${index}`).join('\n')}`;
    default:
      return said;
  }
}

const shades = (count: number) => Array.from({ length: count }, (_, n) => `shade ${n + 1}`);

/** Numbered words of this total length, each of which can be searched for. */
function createWords(characters: number): string {
  const all: string[] = [];
  for (let length = 0, index = 0; length < characters; index += 1) {
    const word = `w${index}w`;
    all.push(index % 60 === 59 ? `${word}.\n\n` : `${word} `);
    length += word.length + 1;
  }
  return all.join('').trim();
}

/** Numbered lines of code of this total length. */
function createCodeLines(characters: number): string {
  const count = Math.ceil(characters / 24);
  return Array.from({ length: count }, (_, index) => `const w${index}w = ${index};`).join('\n');
}
