import { describe, expect, it } from 'vitest';
import { bundleDeclarations } from './bundle-declarations.ts';
import { documentMembers } from './document-members.ts';

/** Bundles declaration files that are given as strings; `face.d.ts` is the entry. */
function bundle(files: Readonly<Record<string, string>>) {
  const { contract, entries } = bundleDeclarations(new Map([['face', 'face.d.ts']]), {
    read: (file) => files[file] ?? '',
    locate: (module) =>
      module.startsWith('.') ? module.replace('./', '').replace('.ts', '.d.ts') : undefined,
    outside: (module) => (module === 'zod' ? './zod/index.js' : undefined),
  });
  return { contract, entry: entries.get('face') };
}

describe('the published types', () => {
  it.each<[what: string, files: Record<string, string>, contract: string, entry: string]>([
    [
      'contain what an export needs, with comments, and nothing else',
      {
        'face.d.ts': "export type { Dog } from './dogs.ts';",
        'dogs.d.ts':
          "import type { Leg } from './legs.ts';\n/** It barks. */\nexport interface Dog { legs: Leg[]; name: Promise<string>; }\nexport interface Cat {}",
        'legs.d.ts':
          'interface Paw {}\nexport type Leg = { paw: Paw };\nexport declare const count: 4;',
      },
      '/** It barks. */\nexport interface Dog { legs: Leg[]; name: Promise<string>; }\n\nexport interface Paw {}\n\nexport type Leg = { paw: Paw };\n',
      "export { type Dog } from './contract.js';\n",
    ],
    [
      'follow exports of everything, of other names, and types named in place',
      {
        'face.d.ts': "export { bark as speak } from './all.ts';",
        'all.d.ts': "export * from './none.ts';\nexport * from './dogs.ts';",
        'none.d.ts': 'export {};',
        'dogs.d.ts':
          "declare function yap(to: import('./legs.ts').Leg): void;\nexport { yap as bark };",
        'legs.d.ts': 'export interface Leg {}',
      },
      'export declare function speak(to: Leg): void;\n\nexport interface Leg {}\n',
      "export { speak } from './contract.js';\n",
    ],
    [
      'give two declarations of one name different names',
      {
        'face.d.ts': "export type { A } from './a.ts';",
        'a.d.ts':
          "import type { Part } from './b.ts';\nexport type A = Part | Own;\ntype Own = { part: import('./c.ts').Part };",
        'b.d.ts': 'export interface Part { b: 1 }',
        'c.d.ts': 'export interface Part { c: 1 }',
      },
      'export type A = Part | Own;\n\nexport type Own = { part: Part2 };\n\nexport interface Part { b: 1 }\n\nexport interface Part2 { c: 1 }\n',
      "export { type A } from './contract.js';\n",
    ],
    [
      'contain a schema with the type of the same name, and import zod from its copy',
      {
        'face.d.ts': "export { type Chat } from './chat.ts';\nexport { z } from 'zod';",
        'chat.d.ts':
          "import { z } from 'zod';\nexport declare const Chat: z.ZodObject<{ id: z.ZodString }>;\nexport type Chat = z.infer<typeof Chat>;",
      },
      "import { z } from './zod/index.js';\n\nexport declare const Chat: z.ZodObject<{ id: z.ZodString }>;\n\nexport type Chat = z.infer<typeof Chat>;\n",
      "export { type Chat } from './contract.js';\nexport { z } from './zod/index.js';\n",
    ],
    [
      'leave type parameters alone, whatever else has their name',
      {
        'face.d.ts': "export type { Box } from './box.ts';",
        'box.d.ts':
          "import type { Item } from './item.ts';\nexport interface Box<Item> { item: Item; map: <Other>(to: (one: Item) => Other) => { [Key in keyof Other]: Key }; }",
        'item.d.ts': 'export interface Item {}',
      },
      'export interface Box<Item> { item: Item; map: <Other>(to: (one: Item) => Other) => { [Key in keyof Other]: Key }; }\n',
      "export { type Box } from './contract.js';\n",
    ],
  ])('[U06] [P16] %s', (_what, files, contract, entry) => {
    expect(bundle(files)).toEqual({ contract, entry });
  });

  it('[U06] [P16] fails if the types would need a package by other authors, and names that package', () => {
    const files = {
      'face.d.ts': "export type { Dog } from './dogs.ts';",
      'dogs.d.ts': "import type { Logger } from 'pino';\nexport interface Dog { log: Logger }",
    };
    expect(() => bundle(files)).toThrow('Logger from the package pino, which dogs.d.ts imports');
  });
});

describe('the fields of a published schema', () => {
  it('[U06] [P16] keep the comments from the source, including those on nested schemas', () => {
    const source = `
const Chat = z.strictObject({
  /** Of the platform. */
  id: Id,
});
export const Message = z.readonly(
  z.strictObject({
    /** Where it was written. */
    chat: Chat,
    files: z.array(z.strictObject({
      /**
       * In bytes.
       */
      size: z.int(),
    })).optional(),
    text: z.string(),
  }),
);`;
    const declarations = `export declare const Message: z.ZodReadonly<z.ZodObject<{
    chat: z.ZodObject<{
        id: z.ZodString;
    }>;
    files: z.ZodOptional<z.ZodArray<z.ZodObject<{
        size: z.ZodInt;
    }>>>;
    text: z.ZodString;
}>>;`;
    expect(
      documentMembers(declarations, source),
    ).toBe(`export declare const Message: z.ZodReadonly<z.ZodObject<{
    /** Where it was written. */
    chat: z.ZodObject<{
        /** Of the platform. */
        id: z.ZodString;
    }>;
    files: z.ZodOptional<z.ZodArray<z.ZodObject<{
        /**
         * In bytes.
         */
        size: z.ZodInt;
    }>>>;
    text: z.ZodString;
}>>;`);
  });
});
