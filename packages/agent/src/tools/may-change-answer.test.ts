import { describe, expect, it } from 'vitest';
import { canChangeAnswer } from './own-messages.ts';

const OWNER = 'telegram:1';
const ANN = 'telegram:2';
const BO = 'telegram:3';

describe('permission to change an earlier answer', () => {
  it.each<[who: string, alone: boolean, people: string[], answered: string[], may: boolean]>([
    ['by a guest alone with the bot', true, [ANN], [ANN], true],
    ['by a guest alone, even if the question is no longer stored', true, [ANN], [], true],
    ['by the guest of a group whom it answered', false, [ANN], [ANN], true],
    ['not by a guest if it answered another guest', false, [ANN], [BO], false],
    ['not by a guest if it answered the owner', false, [ANN], [OWNER], false],
    ['not by a guest if it answered several people', false, [ANN], [ANN, BO], false],
    ['not by a guest if it is unknown whom it answered', false, [ANN], [], false],
    ['by the owner in a group', false, [OWNER], [BO], true],
    ['by the owner if it is unknown whom it answered', false, [OWNER], [], true],
    ['not if a guest asks together with the owner', false, [OWNER, ANN], [BO], false],
    ['if a guest asks for their own one together with the owner', false, [OWNER, ANN], [ANN], true],
    ['not by two guests if it answered one of them', false, [ANN, BO], [ANN], false],
    ['not by two guests even if it answered both', false, [ANN, BO], [ANN, BO], false],
    ['not if no person asks', false, [], [ANN], false],
  ])('[P18] %s', (_who, isAlone, people, answered, may) => {
    expect(canChangeAnswer({ isAlone, people, owners: [OWNER] }, answered)).toBe(may);
  });
});
