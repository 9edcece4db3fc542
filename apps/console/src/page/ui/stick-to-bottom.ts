import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** This near the end counts as being there, in CSS pixels. */
const NEAR = 48;

/**
 * Keeps `scroller` at its end while `content` grows, unless the reader has scrolled up: then it
 * leaves the place alone until they come back down or ask for the end (`toEnd`). `stuck`: it is not left alone.
 */
export function useStickToBottom(
  scroller: RefObject<HTMLElement>,
  content: RefObject<HTMLElement>,
) {
  const [stuck, setStuck] = useState(true);
  const [follow] = useState({ now: true, last: 0 });
  const toEnd = (): void => {
    follow.now = true;
    setStuck(true);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior: 'instant' });
  };
  useEffect(() => {
    const box = scroller.current;
    if (!box || !content.current) return;
    const onScroll = (): void => {
      const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
      // Growing content also moves the end away: only going up means to stay.
      if (near) follow.now = true;
      else if (box.scrollTop < follow.last) follow.now = false;
      follow.last = box.scrollTop;
      setStuck(follow.now);
    };
    const observer = new ResizeObserver(() => {
      if (follow.now) box.scrollTo({ top: box.scrollHeight, behavior: 'instant' });
    });
    observer.observe(content.current);
    observer.observe(box);
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', onScroll);
    };
  }, []);
  return { stuck, toEnd };
}
