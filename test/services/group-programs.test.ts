import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupPrograms } from './group-programs.ts';
import { SERVICE_NAMES } from './programs.ts';

const needs = fc.uniqueArray(fc.tuple(fc.string(), fc.subarray([...SERVICE_NAMES])), {
  selector: ([file]) => file,
});

describe('programs that are switched off together', () => {
  it('[U09] never include two programs that one file needs, and run each file once without each of its programs', () => {
    fc.assert(
      fc.property(needs, (asked) => {
        const groups = groupPrograms(new Map(asked));
        const met = groups.flatMap(({ services, files }) =>
          files.map((file) => {
            const own = asked.find(([name]) => name === file)?.[1] ?? [];
            return [file, services.filter((service) => own.includes(service))] as const;
          }),
        );
        expect(met.filter(([, services]) => services.length !== 1)).toEqual([]);
        const pairs = (all: readonly (readonly [string, readonly string[]])[]): string[] =>
          all.flatMap(([file, services]) => services.map((one) => `${file}\n${one}`)).toSorted();
        expect(pairs(met)).toEqual(pairs(asked));
      }),
    );
  });
});
