import { parseArgs } from 'node:util';
import { z } from 'zod';

/** One line of a Dockerfile, of those that Parley's has. */
export type Instruction =
  | { readonly kind: 'stage'; readonly base: string; readonly name: string }
  | { readonly kind: 'folder' | 'user' | 'run'; readonly value: string }
  | { readonly kind: 'set'; readonly name: string; readonly value: string }
  | {
      readonly kind: 'copy';
      /** A stage before; null: the build context. */
      readonly from: string | null;
      /** `user:group` of what is copied. */
      readonly owner: string | null;
      readonly sources: readonly string[];
      readonly to: string;
    }
  | { readonly kind: 'entry' | 'arguments' | 'health'; readonly command: readonly string[] }
  | { readonly kind: 'none' };

const Command = z.array(z.string()).min(1);

/** The instructions of a Dockerfile in their order. Throws for one that this reader does not know. */
export function readDockerfile(text: string): Instruction[] {
  return text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^(\w+) +(.*)$/.exec(line) ?? [];
      return instruction(word, rest.trim());
    });
}

function instruction(word: string, rest: string): Instruction {
  switch (word) {
    case 'FROM': {
      const [base = '', , name = ''] = rest.split(/ +/);
      return { kind: 'stage', base, name };
    }
    case 'WORKDIR':
      return { kind: 'folder', value: rest };
    case 'USER':
      return { kind: 'user', value: rest };
    case 'RUN':
      return { kind: 'run', value: rest };
    case 'ENV':
    case 'ARG': {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(rest) ?? [];
      return { kind: 'set', name, value: value.replaceAll('"', '') };
    }
    case 'COPY':
      return copy(rest);
    case 'ENTRYPOINT':
      return { kind: 'entry', command: Command.parse(JSON.parse(rest)) };
    case 'CMD':
      return { kind: 'arguments', command: Command.parse(JSON.parse(rest)) };
    case 'HEALTHCHECK':
      return {
        kind: 'health',
        command: Command.parse(JSON.parse(rest.slice(rest.indexOf('CMD ') + 4))),
      };
    case 'EXPOSE':
    case 'VOLUME':
    case 'LABEL':
      return { kind: 'none' };
    default:
      throw new Error(`${word} ${rest} is no line that the tests of the image can follow.`);
  }
}

function copy(rest: string): Instruction {
  const { values, positionals } = parseArgs({
    args: rest.split(/ +/),
    options: { from: { type: 'string' }, chown: { type: 'string' } },
    allowPositionals: true,
  });
  return {
    kind: 'copy',
    from: values.from ?? null,
    owner: values.chown ?? null,
    sources: positionals.slice(0, -1),
    to: positionals.at(-1) ?? '',
  };
}
