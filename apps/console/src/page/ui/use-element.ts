import { useState } from 'preact/hooks';

/** An element of the page once it is drawn. */
export interface ElementSlot<Kind extends Element> {
  readonly current: Kind | null;
  /** For the `ref` of the element. */
  readonly ref: (drawn: EventTarget | null) => void;
}

/** A ref that knows which kind of element it holds; Preact's own types say only `EventTarget`. */
export function useElement<Kind extends Element>(kind: new () => Kind): ElementSlot<Kind> {
  const [slot] = useState(() => {
    const made = {
      current: null as Kind | null,
      ref(drawn: EventTarget | null) {
        made.current = drawn instanceof kind ? drawn : null;
      },
    };
    return made;
  });
  return slot;
}
