import { parseArgs } from 'node:util';
import { z } from 'zod';

/** A Dockerfile instruction, of the kinds that Parley uses. */
export type DockerInstruction =
  | { readonly kind: 'stage'; readonly base: string; readonly name: string }
  | { readonly kind: 'folder' | 'user' | 'run'; readonly value: string }
  | { readonly kind: 'set'; readonly name: string; readonly value: string }
  | {
      readonly kind: 'copy';
      /** The earlier stage to copy from; null for the build context. */
      readonly from: string | null;
      /** `user:group` of the copied files. */
      readonly owner: string | null;
      readonly sources: readonly string[];
      readonly to: string;
    }
  | { readonly kind: 'entry' | 'arguments' | 'health'; readonly command: readonly string[] }
  | { readonly kind: 'none' };

const Command = z.array(z.string()).min(1);

/** The instructions of a Dockerfile, in order. Throws for an unsupported instruction. */
export function readDockerfile(text: string): DockerInstruction[] {
  return text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^(\w+) +(.*)$/.exec(line) ?? [];
      return parseInstruction(word, rest.trim());
    });
}

function parseInstruction(word: string, rest: string): DockerInstruction {
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
      return parseCopy(rest);
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
      throw new Error(`${word} ${rest} is not supported by the tests of the image.`);
  }
}

function parseCopy(rest: string): DockerInstruction {
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
