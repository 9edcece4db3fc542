import { memoryValues } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { Acquaintances } from './acquaintances.ts';

const LID = '11@lid';
const PN = '49@s.whatsapp.net';

describe('the name of a person for the core', () => {
  it('[F05] is their number, whichever of their names stands on a message', async () => {
    const people = new Acquaintances(memoryValues());
    expect(await people.jidOf({ lid: LID, pn: PN })).toBe(PN);
    expect(await people.jidOf({ pn: PN })).toBe(PN);
    await people.letIn({ lid: LID, pn: PN });
    expect(await people.jidOf({ lid: LID, pn: PN })).toBe(PN);
  });

  it('[F05] becomes the number of somebody who was refused without one', async () => {
    const people = new Acquaintances(memoryValues());
    expect(await people.jidOf({ lid: LID })).toBe(LID);
    expect(await people.jidOf({ lid: LID, pn: PN })).toBe(PN);
  });

  it('[F05] stays the identity of somebody who was let in under it, also after a restart', async () => {
    const values = memoryValues();
    await new Acquaintances(values).letIn({ lid: LID });
    const people = new Acquaintances(values);
    expect(await people.jidOf({ lid: LID, pn: PN })).toBe(LID);
    expect(await people.jidOf({})).toBeUndefined();
  });
});
