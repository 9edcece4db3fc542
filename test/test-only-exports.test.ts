import { readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listRepositoryFiles } from './repository-files.ts';

// A test uses what the product uses: a name that only tests import is untested where it matters,
// and every export is one more thing that other files may depend on. Exempt are
// - the public entry points below, whose users are not in this repository;
// - a type in the signature of an exempt name, or of a name that other files of the product import:
//   its caller may have to name it;
// - a decision: a synchronous function with a doc comment that is called in its own file, and has a
//   table of cases in a test of its package. A separate file for each would be worse;
// - the names below, each with its reason.

const ROOT = resolve(import.meta.dirname, '..');
/**
 * Entry points (`exports` of package.json) for others: plugin authors, the libraries that do not
 * depend on Parley and their users, and the programs that are started from outside.
 */
const PUBLIC_FACES = [
  'packages/plugins/src/index.ts',
  'packages/bullmq-sqlite/src/index.ts',
  'packages/markup/src/index.ts',
  /^packages\/simulators\/src\/\w+\/index\.ts$/,
  'apps/parley/src/main.ts',
];
/** By file and name, with the reason. */
const NAMED: Readonly<Record<string, string>> = {
  // Complete tables: a test covers every row, so that no row is added without a test.
  'packages/core/src/runtime.ts: DURABLE_POINTS': 'the crash checks kill at each point',
  'packages/channel-telegram/src/message-fields.ts: MESSAGE_FIELDS':
    'compared with the newest types',
  'packages/channel-telegram/src/message-fields.ts: UPDATE_DECISIONS':
    'compared with the newest types',
  'packages/prompt/src/layouts.ts: BUILT_IN_LAYOUTS': 'each layout has its golden prompts',
  'packages/prompt/src/layers/tools.ts: EXPECTED_ABILITIES': 'every tool in it must exist',
  // Decisions that are asynchronous, or whose table belongs to several packages.
  'packages/agent/src/approvals/approval-gate.ts: formatQuestion': 'read back in every dialect',
  'packages/agent/src/soul/soul-scenarios.ts: runScenarios': 'scripted models answer in its table',
  'packages/agent/src/turn/build-prompt.ts: gatherContext': 'joins what several sources found',
  'packages/channel-whatsapp/src/intake.ts: parseChatUpdate':
    'its table has every field of the wire',
  'packages/channels/src/commands/permission.ts: hasGroupRight':
    'a silent platform, with a short wait',
  'packages/channel-discord/src/places.ts: toChat': 'chats of every kind, without a client',
  'apps/console/src/page/agents.tsx: resolveAgentSelection':
    'a table of addresses decides, without a page',
  'packages/channels/src/commands/link.ts: renderLinkResult': 'each result has its words',
  'packages/channels/src/commands/list.ts: listMenu': 'a menu with more commands than Parley has',
  'packages/tools/src/mcp/client.ts: toEntryList': 'read from the corpus of real answers',
  'apps/parley/src/build/build.ts: buildUntilUnchanged':
    'a whole bundle takes too long to build thrice',
  'apps/parley/src/deployment.ts: readWorkspaceId': 'two processes ask at the same moment',
  // Parts of the product used to build tests and checks.
  'apps/parley/src/compose-worker.ts: createTurnServices':
    'the model checks run turns with models of their own',
  'apps/console/src/server/page-files.ts: readBuiltPage': 'tests serve the page of the bundle',
  'packages/store/src/inbox-reads.ts: CHATS': 'its plan is checked on PostgreSQL',
};
const CODE = /^(packages|apps|examples|test)\/.*\.tsx?$/;
const PRODUCT = /^(packages|apps)\/[^/]+\/src\/(?!.*(\.test\.|\/testing\/)|testing\/)/;

const CLAUSE = /^(import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from '([^']+)';/gm;
const STAR = /^export \* from '([^']+)';/gm;
const WHOLE = /(?:import\(|require\(|import \* as \w+ from )\s*'([^']+)'/g;
const DECLARATION =
  /^((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?)export (async )?(?:abstract )?(function|const|class|interface|type) (\w+)/gm;
/** Where the caller-visible part of a declaration ends. */
const END: Readonly<Record<string, RegExp>> = {
  function: / \{\n/,
  class: /^\}/m,
  interface: /^\}/m,
};

interface Export {
  readonly file: string;
  readonly name: string;
  readonly kind: string;
  readonly isDocumented: boolean;
  readonly isAsync: boolean;
  /**
   * The caller-visible part: the whole declaration, except the body of a function with a declared
   * result.
   */
  readonly signature: string;
}

const paths = listRepositoryFiles();
const sources = new Map(paths.filter((path) => CODE.test(path)).map((path) => [path, read(path)]));
const entryPoints = readEntryPoints();
const declared = new Map([...sources].map(([path, text]) => [path, declarationsIn(path, text)]));
const passedOn = new Map([...sources.keys()].map((path) => [path, clausesOf(path, 'export')]));
const users = usersOfNames();

describe('the exports of the product', () => {
  it('are each used by another product file, not only by tests', () => {
    const all = [...declared].flatMap(([path, exports]) => (PRODUCT.test(path) ? exports : []));
    const found = all.filter((one) => isForTestsAlone(one) && !isExempt(one));
    expect(found.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
    expect(all.length).toBeGreaterThan(2000);
  });

  it('do not have unnecessary exemptions by name', () => {
    const all = [...declared.values()].flat().filter(({ file }) => PRODUCT.test(file));
    const needed = all.filter((one) => isForTestsAlone(one) && !isExemptByRule(one));
    const names = needed.map(({ file, name }) => `${file}: ${name}`);
    expect(Object.keys(NAMED).filter((one) => !names.includes(one))).toEqual([]);
  });
});

function isForTestsAlone({ file, name }: Export): boolean {
  const by = users.get(`${file} ${name}`) ?? [];
  return by.length > 0 && !by.some((path) => PRODUCT.test(path));
}

function isExempt(one: Export): boolean {
  return `${one.file}: ${one.name}` in NAMED || isExemptByRule(one);
}

function isExemptByRule(one: Export): boolean {
  return isPublic(one) || isInSignature(one) || isDecision(one);
}

function isPublic({ file, name }: Export): boolean {
  const faces = [...sources.keys()].filter((path) =>
    PUBLIC_FACES.some((face) => (typeof face === 'string' ? face === path : face.test(path))),
  );
  return faces.some((face) => {
    const origin = originOf(face, name);
    return origin !== undefined && origin.file === file && origin.name === name;
  });
}

function isInSignature({ file, name }: Export, seen: readonly string[] = []): boolean {
  // Types may refer to each other.
  if (seen.includes(name)) return false;
  const all = declared.get(file) ?? [];
  const isType = all.some((same) => same.name === name && /^(type|interface)$/.test(same.kind));
  if (!isType) return false;
  const word = new RegExp(`\\b${name}\\b`);
  return all
    .filter((other) => other.name !== name && word.test(other.signature))
    .some(
      (other) =>
        isUsed(other) ||
        isPublic(other) ||
        isDecision(other) ||
        isInSignature(other, [...seen, name]),
    );
}

function isUsed({ file, name }: Export): boolean {
  return (users.get(`${file} ${name}`) ?? []).some((path) => PRODUCT.test(path));
}

function isDecision({ file, name, kind, isAsync, isDocumented }: Export): boolean {
  const calls = (sources.get(file) ?? '').split(new RegExp(`\\b${name}\\b`)).length - 1;
  const [home = ''] = /^\w+\/[^/]+\//.exec(file) ?? [];
  const tests = users.get(`${file} ${name}`) ?? [];
  const hasTable = tests.some((path) => path.startsWith(home) && path.includes('.test.'));
  return kind === 'function' && !isAsync && isDocumented && calls > 1 && hasTable;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function declarationsIn(file: string, text: string): readonly Export[] {
  return Array.from(text.matchAll(DECLARATION), (match) => {
    const [whole, comment = '', async, kind = '', name = ''] = match;
    const rest = text.slice(match.index + whole.length);
    const header = rest.slice(0, rest.search(END[kind] ?? /\n\n/));
    const isInferred = kind === 'function' && /\)$/.test(header);
    const signature = isInferred ? rest.slice(0, rest.search(/^\}/m)) : header;
    return {
      file,
      name,
      kind,
      signature,
      isDocumented: comment !== '',
      isAsync: async !== undefined,
    };
  });
}

/** The names in the braces of imports or re-exports, each with its file. */
function clausesOf(path: string, keyword: 'import' | 'export') {
  return Array.from((sources.get(path) ?? '').matchAll(CLAUSE))
    .filter(([, word]) => word === keyword)
    .flatMap(([, , names = '', specifier = '']) => {
      const file = fileOf(path, specifier);
      if (file === undefined) return [];
      return names.split(',').flatMap((text) => {
        const [name = '', alias = name] = text
          .trim()
          .replace(/^type /, '')
          .split(' as ');
        return name === '' ? [] : [{ file, name, alias }];
      });
    });
}

function fileOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier));
  return entryPoints.get(specifier);
}

/** Maps entry points such as `@parley/store/backup` to their files. */
function readEntryPoints(): ReadonlyMap<string, string> {
  const manifests = paths.filter((path) => /^(packages|apps)\/[^/]+\/package\.json$/.test(path));
  return new Map(
    manifests.flatMap((path) => {
      const { name, exports } = JSON.parse(read(path)) as {
        name: string;
        exports: Record<string, string>;
      };
      return Object.entries(exports).map(([entry, file]): [string, string] => [
        name + entry.slice(1),
        normalize(join(dirname(path), file)),
      ]);
    }),
  );
}

/** Where a name exported by a file is declared, following re-exports. */
function originOf(file: string, name: string): Pick<Export, 'file' | 'name'> | undefined {
  if (declared.get(file)?.some((one) => one.name === name)) return { file, name };
  const from = passedOn.get(file)?.find(({ alias }) => alias === name);
  if (from !== undefined) return originOf(from.file, from.name);
  for (const whole of starsOf(file)) {
    const origin = originOf(whole, name);
    if (origin !== undefined) return origin;
  }
  return undefined;
}

/** The files that a file re-exports completely. */
function starsOf(path: string): readonly string[] {
  const specifiers = (sources.get(path) ?? '').matchAll(STAR);
  return Array.from(specifiers, ([, specifier = '']) => fileOf(path, specifier) ?? '');
}

/**
 * The importing files, by file and name. Importing a whole module uses the names that the importer
 * mentions.
 */
function usersOfNames(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const add = (path: string, file: string, name: string) => {
    const origin = originOf(file, name);
    if (origin === undefined || origin.file === path) return;
    const key = `${origin.file} ${origin.name}`;
    found.set(key, [...(found.get(key) ?? []), path]);
  };
  for (const [path, text] of sources) {
    for (const { file, name } of clausesOf(path, 'import')) add(path, file, name);
    for (const [, specifier = ''] of text.matchAll(WHOLE)) {
      const file = fileOf(path, specifier) ?? '';
      const names = [
        ...(declared.get(file) ?? []).map(({ name }) => name),
        ...(passedOn.get(file) ?? []).map(({ alias }) => alias),
      ];
      for (const name of names) if (new RegExp(`\\b${name}\\b`).test(text)) add(path, file, name);
    }
  }
  return found;
}
