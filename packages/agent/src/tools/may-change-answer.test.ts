import { describe, expect, it } from 'vitest';
import { mayChangeAnswer } from './own-messages.ts';

const OWNER = 'telegram:1';
const ANN = 'telegram:2';
const BO = 'telegram:3';

describe('an earlier answer may be changed', () => {
  it.each<[who: string, alone: boolean, people: string[], answered: string[], may: boolean]>([
    ['by a guest alone with the bot', true, [ANN], [ANN], true],
    ['by a guest alone, also when the question is no longer stored', true, [ANN], [], true],
    ['by a guest of a group to whom it was given', false, [ANN], [ANN], true],
    ['not by a guest when it was given to another one', false, [ANN], [BO], false],
    ['not by a guest when it was given to the owner', false, [ANN], [OWNER], false],
    ['not by a guest when it was given to several', false, [ANN], [ANN, BO], false],
    ['not by a guest when it is not known to whom', false, [ANN], [], false],
    ['by the owner in a group', false, [OWNER], [BO], true],
    ['by the owner when it is not known to whom', false, [OWNER], [], true],
    ['not when a guest asks together with the owner', false, [OWNER, ANN], [BO], false],
    ['when a guest asks for the own one together with the owner', false, [OWNER, ANN], [ANN], true],
    ['not by two guests when it was given to one', false, [ANN, BO], [ANN], false],
    ['not by two guests when it was given to both', false, [ANN, BO], [ANN, BO], false],
    ['not when no person asks', false, [], [ANN], false],
  ])('[P18] %s', (_who, isAlone, people, answered, may) => {
    expect(mayChangeAnswer({ isAlone, people, owners: [OWNER] }, answered)).toBe(may);
  });
});
