import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { LinkAction, LinkResult } from './links.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createMessage, createTestRoute } from './testing/messages.ts';

const MINUTE = 60_000;

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`linking on ${database.name}`, () => {
    let store: Store;
    let told: number;
    beforeEach(async () => {
      store = await database.openEmpty();
      told = 0;
    });
    afterAll(() => database.dispose());

    /**
     * Writes as a person in a direct chat that has the same name as the person. Names that start
     * with `o` belong to owners.
     */
    const ask = async (
      personId: string,
      action: LinkAction,
      at = 0,
      isOwner = personId.startsWith('o'),
    ) => {
      told += 1;
      const asker = { personId, isOwner };
      const admitted = createMessage(`l${told}`, personId, { at });
      return await store.inbox.command(admitted, (command) => command.link(asker, action));
    };
    const make = (personId: string, code: string, at?: number) =>
      ask(personId, { kind: 'make', code }, at);
    const type = (personId: string, code: string, at?: number) =>
      ask(personId, { kind: 'type', code }, at);
    const members = async (personId: string) => (await store.links.of(personId))?.members ?? [];
    const kind = (result: LinkResult | null) => result?.kind;

    it("[F13] [F14] does not give another agent's owner any rights when they type a code", async () => {
      const ownersOfAgents = [['o1'], ['p']];
      const typeAs = async (personId: string, isOwner: boolean) => {
        const action = { kind: 'type', code: 'C' } as const;
        const asker = { personId, isOwner, ownersOfAgents };
        const admitted = createMessage(`x${personId}`, personId);
        return store.inbox.command(admitted, (command) => command.link(asker, action));
      };
      await make('o1', 'C');
      // In this test, `p` writes in a chat with the first agent, of which they are not an owner.
      expect(kind(await typeAs('p', false))).toBe('owner-must-make');
      expect(kind(await typeAs('b', false))).toBe('to-confirm');
    });

    it('[F13] links to an owner only after the owner confirms who typed the code', async () => {
      await make('o1', 'C');
      expect(await type('b', 'C')).toEqual({
        kind: 'to-confirm',
        code: 'C',
        mainConversation: null,
        makerRoute: createTestRoute('o1'),
      });
      expect(await members('b')).toEqual([]);
      expect(await make('o1', 'D')).toMatchObject({ code: 'C', typist: 'b' });
      expect(await type('o1', 'C')).toEqual({
        kind: 'linked',
        members: ['b', 'o1'],
        mainConversation: 'linked:C',
        otherRoute: createTestRoute('b'),
      });
      expect(await store.links.of('b')).toEqual({
        members: ['b', 'o1'],
        byOwner: true,
        mainConversation: 'linked:C',
      });
      expect(kind(await type('c', 'C'))).toBe('unknown-code');
    });

    it('[F13] never makes a person an owner because an owner typed their code', async () => {
      await make('b', 'C');
      expect(kind(await type('o1', 'C'))).toBe('owner-must-make');
      expect(await members('b')).toEqual([]);
    });

    it('[F13] reserves a code for the first person who types it, and does nothing for its creator', async () => {
      await make('o1', 'C');
      expect(kind(await type('o1', 'C'))).toBe('own-code');
      await type('b', 'C');
      expect(kind(await type('thief', 'C'))).toBe('taken');
      await type('o1', 'C');
      expect(await members('o1')).toEqual(['b', 'o1']);
    });

    it('[F13] links two non-owners immediately, without making either of them an owner later', async () => {
      await make('a', 'C');
      expect(await type('b', 'C')).toMatchObject({ kind: 'linked', members: ['a', 'b'] });
      expect(await store.links.of('a')).toMatchObject({ byOwner: false });
    });

    it('[F13] links only the account that typed the code to the owner, not others linked to that account', async () => {
      await make('b', 'C');
      await type('friend', 'C');
      await make('o1', 'D');
      await type('b', 'D');
      await type('o1', 'D');
      expect(await members('o1')).toEqual(['b', 'o1']);
      expect(await members('friend')).toEqual([]);
    });

    it('[F13] drops links that a person made before they became an owner', async () => {
      await ask('o1', { kind: 'make', code: 'C' }, 0, false);
      await type('friend', 'C');
      await make('o1', 'D');
      await type('b', 'D');
      await type('o1', 'D');
      expect(await store.links.of('o1')).toEqual({
        members: ['b', 'o1'],
        byOwner: true,
        mainConversation: 'linked:D',
      });
      expect(await store.links.of('friend')).toBeNull();
    });

    it('[F13] adds further accounts to the same link, each with a separate code', async () => {
      for (const [code, person] of [
        ['C', 'b'],
        ['D', 'c'],
      ] as const) {
        await make('o1', code);
        await type(person, code);
        await type('o1', code);
      }
      expect(await store.links.of('c')).toMatchObject({
        members: ['b', 'c', 'o1'],
        mainConversation: 'linked:C',
      });
    });

    it("[F13] drops a code after ten minutes, even one that waits for the owner's confirmation", async () => {
      await make('o1', 'C');
      await type('b', 'C', 9 * MINUTE);
      expect(kind(await type('o1', 'C', 10 * MINUTE))).toBe('unknown-code');
      expect(await members('b')).toEqual([]);
    });

    it('[F13] removes an account at the request of its linked accounts, and dissolves the link when only one is left', async () => {
      await make('o1', 'C');
      await type('b', 'C');
      await type('o1', 'C');
      const leave = (asker: string, personId: string) => ask(asker, { kind: 'leave', personId });
      expect(kind(await leave('thief', 'b'))).toBe('not-linked');
      expect(await leave('o1', 'b')).toEqual({ kind: 'left', personId: 'b' });
      expect(await members('o1')).toEqual([]);
      // A new link is a new conversation that the accounts in the old link cannot see.
      await make('o1', 'E');
      await type('c', 'E');
      await type('o1', 'E');
      expect(await store.links.of('o1')).toMatchObject({ mainConversation: 'linked:E' });
    });
  });
}
