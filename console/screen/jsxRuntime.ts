import type { ElementType, Key, ReactElement, ReactNode } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';

/**
 * Makes the elements of the pages, so that each text is the only content of its element. Translators
 * and extensions put elements of their own in the place of texts. React then changes a text beside
 * others that is no longer in the page, so an old number stays beside the new one. Where it has to remove
 * such a text, it throws. The content of a whole element it replaces.
 */
export type { JSX } from 'react/jsx-runtime';
export { Fragment, withOne as jsx, withSeveral as jsxs };

interface Props {
  readonly children?: ReactNode;
}

const isText = (child: ReactNode): boolean =>
  typeof child === 'string' || typeof child === 'number' || typeof child === 'bigint';
const isNothing = (child: ReactNode): boolean =>
  child === null || child === undefined || typeof child === 'boolean';
/** Space between elements stays as it is: in a row it would be an element too many. */
const isSpace = (child: ReactNode): boolean => typeof child === 'string' && child.trim() === '';

const apart = (child: ReactNode): ReactNode =>
  isText(child) && !isSpace(child) ? jsx('span', { children: child }) : child;

/** An element with one child, or none. */
function withOne(type: ElementType, props: Props, key?: Key): ReactElement {
  // What stands around a fragment is not known here.
  const isAlone = type !== Fragment || !isText(props.children);
  return jsx(type, isAlone ? props : { children: apart(props.children) }, key);
}

/** An element with several children, each at its own place. */
function withSeveral(type: ElementType, props: Props, key?: Key): ReactElement {
  const children = props.children as readonly ReactNode[];
  const isOneText = children.some(isText) && children.every((one) => isText(one) || isNothing(one));
  if (!isOneText) return jsxs(type, { ...props, children: children.map(apart) }, key);
  const text = children.filter((one) => !isNothing(one)).join('');
  return withOne(type, { ...props, children: text }, key);
}
