/** As much of the DOM as is used here; the compiler’s own DOM would be there for all of Parley. */
export interface PageNode {
  readonly nodeType: number;
  readonly textContent: string | null;
  readonly childNodes: Iterable<PageNode>;
  readonly parentNode: PageNode | null;
  removeChild(child: PageNode): unknown;
}

/** An element of a page. */
export interface PageElement extends PageNode {
  readonly innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
  replaceWith(node: PageNode): void;
}

/** A page as it was parsed. */
export interface PageDocument extends PageNode {
  readonly body: PageElement | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  createTextNode(text: string): PageNode;
}
