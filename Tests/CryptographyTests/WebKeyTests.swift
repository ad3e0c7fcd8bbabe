import Cryptography
import Testing

/// Answers that others computed: RFC 7515 A.2 and A.3, and one of the command line's `openssl`.
@Suite("Keys of JSON Web Keys")
struct WebKeyTests {
  private static let claims =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
  private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
  private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
  private static let ecMessage = "eyJhbGciOiJFUzI1NiJ9." + claims
  private static let ecSignature =
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
  private static let rfcModulus =
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4Q"
    + "lL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdb"
    + "BYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-D"
    + "WNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
  private static let rfcSignature =
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5juj"
    + "Gbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07"
    + "Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipU"
    + "TI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
  private static let ownModulus =
    "s1S7IueAPeQDoNi-sB0e9XhtRxOK6taGJY6UywW53od72CUKyZHox9AzIbhe95InjBGMPqLi7cC0wqMr9cqm-QdEA4_SnN8"
    + "skKzGStv9w9QBsAgxtroruUDwNJ449xpR-ppIiaBQ6fKtR-j25ECTgkJcbccezVb5Td2MSF4UHXKco8nhYiTnE7NJYrFk"
    + "THbeAFVYCka-0rKfsIM7neAYo92XKGH_kkXVkun9spI7_NjY84lAR_q1tR3RnUTs3MPmhdVGimmHjDej5PiGXK1H7XlTkv"
    + "a0OBCZJ7enA8n3eD29EA6dArXmWqXj4E5cmeIQK2F1O5qm572gPMqK0y0-ow"
  private static let ownMessage = "Purser's own test message"
  private static let ownSignature =
    "CWvVrzMTDVDJARNUfKzeNn3bhKJblE20Bjkpvh3bQ2thAgkW3BOX0BHeFfhYWUnA22XKF8WW7OACJOHxj4Gd30dykkt0DjC"
    + "BpdB3oDFuC-eegh8Qqf9sGuHl8BO43530FEsuew-ljzEzQ7qCmNuWAs3dJPBSoKc2SyXaw_uvCEDrW3sBW_-0eHAGWHXP"
    + "ZEZadDn_OhyZkWMHbQEkG49FcSwq_iW9doS5MgVRpW8oCGVEfXJ4bRmlNcgYDODNdiivfR97EYML5ZgM0wWuIf9Wl5IdKK"
    + "x2FFvEaA2xeTs5r9izBRgwYeEfaZKnJHAv-ng20-bY6orU36K1K1ktqgpabA"
  /// Of the same message, with the padding PSS, which RS256 is not.
  private static let pssSignature =
    "eVTNu0q1teSdQ8gdiSJIi1pTATDSeONK0CDr2TSgbS66IdCPrMtzkz8Cr8Fja40iZSqiUlXSpU_DurNnJxlLiWrKBJnnT8J"
    + "JkfiZCFDsYyBBiuVBNe8lXXSPhcAP8IJo-LXVinGD7PBTaWooIlL1asUNwoyoDswuiaD4SeZ-WhJvgeGr3ewQeFyrG-rj"
    + "gJFSlBuyXmKe_VxF1UL33c6XdY6ijx3WnftLCdSOJLtVQO-zEX9-bTavfYum3TyOxcmKI2lx5_Z7utiwUlyz3t1dLCOKFZ"
    + "CUD3-BzpTOSgMpVZkVcPOjIvqPErI4Yzd30LObBw1-wli7T4mrnqAJoc0EuQ"
  private static let shortModulus =
    "4dtXPdKDC983MVMcDEMjo3hh8ydJuQWtCoVgXWJ-L9l4ik4eZRJDRJPm3GNznMC4n3rr0Ka6k1pM3TOE8mYaMzEOEJ1kCrz"
    + "1tzzlD3de8jMFoLj9GeBozNlIPvpCjlPkxDrvYQkcB7FyoXKGjhqKXvMpxn44HsbXwA-BjMQlC_k"

  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

  private func rsa(_ modulus: String) throws -> WebKey {
    try WebKey(modulus: bytes(modulus), exponent: [1, 0, 1])
  }

  @Test func `the ES256 signature of RFC 7515 stands, and not over another text`() throws {
    let key = try WebKey(p256x: bytes(Self.x), y: bytes(Self.y))
    let signature = try bytes(Self.ecSignature)
    #expect(key.algorithm == .es256)
    #expect(key.verify(signature: signature, over: Array(Self.ecMessage.utf8)))
    #expect(!key.verify(signature: signature, over: Array(Self.claims.utf8)))
    #expect(!key.verify(signature: [], over: Array(Self.ecMessage.utf8)))
  }

  @Test func `RS256 signatures of others stand, and not over another text`() throws {
    let message = Array("eyJhbGciOiJSUzI1NiJ9.\(Self.claims)".utf8)
    let key = try rsa(Self.rfcModulus)
    #expect(key.algorithm == .rs256)
    #expect(key.verify(signature: try bytes(Self.rfcSignature), over: message))
    #expect(!key.verify(signature: try bytes(Self.rfcSignature), over: message + [0]))
    let own = try rsa(Self.ownModulus)
    #expect(own.verify(signature: try bytes(Self.ownSignature), over: Array(Self.ownMessage.utf8)))
    #expect(!own.verify(signature: try bytes(Self.rfcSignature), over: message))
  }

  @Test func `a signature with another padding is none of RS256`() throws {
    let own = try rsa(Self.ownModulus)
    #expect(!own.verify(signature: try bytes(Self.pssSignature), over: Array(Self.ownMessage.utf8)))
  }

  @Test func `a point off the curve and a short RSA key are no keys`() throws {
    var y = try bytes(Self.y)
    y[31] ^= 1
    #expect(throws: CryptographyError.self) { try WebKey(p256x: bytes(Self.x), y: y) }
    #expect(throws: CryptographyError.self) { try WebKey(p256x: bytes(Self.x), y: []) }
    #expect(throws: CryptographyError.self) { try rsa(Self.shortModulus) }
    #expect(throws: CryptographyError.self) { try WebKey(modulus: [], exponent: [3]) }
    #expect(throws: CryptographyError.self) {
      try WebKey(modulus: [UInt8](repeating: 0xFF, count: 4096), exponent: [3])
    }
  }
}
